import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { HotcellError } from './errors.ts';
import { mostUrl } from './webhook.ts';

/** Networks of the operator's own that webhooks may reach. */
export type OwnNetworks = readonly (readonly [network: ipaddr.IPv4 | ipaddr.IPv6, bits: number])[];

export function readNetworks(text: string): OwnNetworks {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
    .map((part) => {
      try {
        return ipaddr.parseCIDR(part);
      } catch (cause) {
        throw new HotcellError('invalid', `${part} is no network. Write networks like 10.0.0.0/8, fd00::/8.`, {
          cause,
        });
      }
    });
}

/** Of an address in any form. */
const longest = 64;
/** Of a name, as DNS has it. */
const longestHost = 253;

/** All of IPv6 that is the internet's: beside it are forms of other addresses, like ::7f00:1 for 127.0.0.1. */
const internet6 = ipaddr.parse('2000::');

type Judged = 'public' | 'own' | { refused: string };

/** Whether a request may go to an address. One in the form of the other kind, like ::ffff:127.0.0.1, is judged as that. */
export function judgeAddress(address: string, own: OwnNetworks): Judged {
  if (address.length > longest || !ipaddr.isValid(address)) return { refused: `${address} is no address` };
  const parsed = ipaddr.process(address);
  if (own.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits))) return 'own';
  const range = parsed.range();
  const assigned = parsed.kind() === 'ipv4' || parsed.match(internet6, 3);
  return range === 'unicast' && assigned ? 'public' : { refused: `${address} is not on the internet (${range})` };
}

/** What can be judged of an address before it is resolved. Answers why it is refused. */
export function judgeWebhookUrl(text: string, own: OwnNetworks): { url: URL } | { refused: string } {
  if (!URL.canParse(text)) return { refused: 'is no address' };
  const url = new URL(text);
  // This form is kept: it is longer than what was given where letters are written as %C3%A9.
  if (url.href.length > mostUrl)
    return { refused: `has ${url.href.length} characters once it is encoded, and ${mostUrl} are the most` };
  const schemes = own.length > 0 ? ['https:', 'http:'] : ['https:'];
  if (!schemes.includes(url.protocol)) return { refused: 'must begin with https://' };
  if (url.username !== '' || url.password !== '') return { refused: 'must not contain a user or a password' };
  const host = hostOf(url);
  if (host.length > longestHost)
    return { refused: `has a host name of ${host.length} characters, and ${longestHost} are the most` };
  const judged = isIP(host) !== 0 ? judgeAddress(host, own) : 'public';
  if (typeof judged === 'object')
    return { refused: `leads into a network that webhooks may not reach: ${judged.refused}` };
  return { url };
}

/** Without the brackets of IPv6. */
export const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '');

/** The one address to connect to: all that the name has must be allowed, and one without encryption must be our own. */
export function chooseAddress(
  { protocol }: Pick<URL, 'protocol'>,
  addresses: readonly string[],
  own: OwnNetworks,
): { address: string } | { refused: string } {
  const judged = addresses.map((address) => judgeAddress(address, own));
  const refused = judged.find((one) => typeof one === 'object');
  if (refused) return refused;
  const [address] = addresses;
  if (address === undefined) return { refused: 'its name has no address' };
  if (protocol === 'http:' && judged.includes('public'))
    return { refused: 'an address on the internet needs https://' };
  return { address };
}
