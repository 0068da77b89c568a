/** A picture that a browser can only paint. SVG and HTML are programs, so they are none. */
export interface Picture {
  type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  width: number;
  height: number;
}

/** A small file can unpack into a picture that takes all of a browser's memory. */
const mostPixels = 40_000_000;

/** What the bytes are, whatever the file is called; undefined for everything that is not shown. */
export function readPicture(bytes: Buffer): Picture | undefined {
  const picture = pngOf(bytes) ?? gifOf(bytes) ?? webpOf(bytes) ?? jpegOf(bytes);
  if (!picture || picture.width < 1 || picture.height < 1) return undefined;
  return picture.width * picture.height <= mostPixels ? picture : undefined;
}

function pngOf(bytes: Buffer): Picture | undefined {
  if (bytes.length < 24 || bytes.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n') return undefined;
  return { type: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function gifOf(bytes: Buffer): Picture | undefined {
  if (bytes.length < 10 || !/^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6))) return undefined;
  return { type: 'image/gif', width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

function webpOf(bytes: Buffer): Picture | undefined {
  if (bytes.length < 30 || !/^RIFF....WEBPVP8[ LX]$/s.test(bytes.toString('latin1', 0, 16))) return undefined;
  const type = 'image/webp';
  if (bytes[15] === 0x58) return { type, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (bytes[15] === 0x20)
    return { type, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  const packed = bytes.readUInt32LE(21);
  return { type, width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
}

/** Its size stands in the first frame header, behind segments that say how long they are. */
function jpegOf(bytes: Buffer): Picture | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  for (let at = 2; at + 9 <= bytes.length; ) {
    const marker = bytes.readUInt16BE(at);
    if (marker < 0xff01 || marker === 0xffd9 || marker === 0xffda) return undefined;
    const isFrame = marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    if (isFrame) return { type: 'image/jpeg', height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
  }
  return undefined;
}
