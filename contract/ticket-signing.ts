import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { clockSkewMs } from './clock-skew.ts';
import { canonical, hexOf, sha256 } from './digest.ts';
import { HotcellError } from './errors.ts';
import { parseAs } from './parse.ts';
import { Ticket, type TicketBody } from './ticket.ts';

/** What a reader expects of a ticket. The time is a parameter, so that a test can try a wrong clock. */
export interface ExpectedTicket {
  installation: string;
  queue: string;
  /** The job id under which it was queued: a ticket is valid only under the id of the run that it names. */
  run: string;
  now: Date;
}

const lifeMs = 7 * 24 * 3600_000;

/** Names a public key: the first 16 hex digits of the sha256 of its SPKI form. */
function keyIdOf(key: KeyObject): string {
  const spki = (key.type === 'private' ? createPublicKey(key) : key).export({ type: 'spki', format: 'der' });
  return hexOf(sha256(spki)).slice(0, 16);
}

export class TicketSigner {
  readonly #key: KeyObject;
  readonly #id: string;

  constructor(pem: string) {
    this.#key = ed25519(() => createPrivateKey(pem), 'HOTCELL_TICKET_KEY', 'a PKCS#8 PEM');
    this.#id = keyIdOf(this.#key);
  }

  issue(about: Pick<TicketBody, 'installation' | 'run' | 'tenant' | 'spec' | 'queue'>, now: Date): Ticket {
    const body: TicketBody = {
      version: 2,
      key: this.#id,
      ...about,
      issuedAt: toSecond(now),
      expiresAt: toSecond(new Date(now.getTime() + lifeMs)),
    };
    return this.sign(body);
  }

  sign(body: TicketBody): Ticket {
    return {
      body,
      signature: sign(null, Buffer.from(canonical(body)), this.#key)
        .toString('base64')
        .replace('==', ''),
    };
  }
}

export class TicketReader {
  readonly #keys: ReadonlyMap<string, KeyObject>;

  /** One or more concatenated public keys in PEM: during a rotation, two are valid. */
  constructor(pems: string) {
    const found = pems.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g) ?? [];
    if (found.length === 0)
      throw new HotcellError(
        'invalid',
        'HOTCELL_TICKET_PUBLIC_KEY contains no public key in PEM. ./hotcell up writes one.',
      );
    const keys = found.map((pem) => ed25519(() => createPublicKey(pem), 'HOTCELL_TICKET_PUBLIC_KEY', 'a PEM'));
    this.#keys = new Map(keys.map((key) => [keyIdOf(key), key]));
  }

  /** The ticket's body if it is authentic and valid here; otherwise throws `ticket_refused` with the reason. */
  read(value: unknown, expected: ExpectedTicket): TicketBody {
    const { body, signature } = parseAs(Ticket, value, 'the ticket', 'ticket_refused');
    const bytes = Buffer.from(canonical(body));
    // Version 1 did not name its key: try each.
    const named = body.version === 1 ? [...this.#keys.values()] : [this.#keys.get(body.key)];
    const good = named.some((key) => key && verify(null, bytes, key, Buffer.from(signature, 'base64')));
    if (!good) throw refused('its signature is not by a key of this installation');
    if (body.installation !== expected.installation)
      throw refused(`it belongs to the installation ${body.installation}`);
    if (body.queue !== expected.queue) throw refused(`it was issued for the queue ${body.queue}`);
    if (body.run !== expected.run) throw refused(`it names the run ${body.run} but was queued under another id`);
    const now = expected.now.getTime();
    if (Date.parse(body.expiresAt) + clockSkewMs < now) throw refused(`it expired at ${body.expiresAt}`);
    if (Date.parse(body.issuedAt) - clockSkewMs > now)
      throw refused(`it was issued at ${body.issuedAt}, in the future: check the clocks`);
    return body;
  }
}

/** A hundred thousand tickets may wait, so each is kept small. */
const toSecond = (time: Date) => time.toISOString().replace(/\.\d+Z$/, 'Z');

function refused(why: string): HotcellError {
  return new HotcellError('ticket_refused', `ticket refused: ${why}`);
}

function ed25519(make: () => KeyObject, name: string, form: string): KeyObject {
  let key: KeyObject;
  try {
    key = make();
  } catch (cause) {
    throw new HotcellError('invalid', `${name} is not ${form} of an Ed25519 key. ./hotcell up writes one.`, { cause });
  }
  if (key.asymmetricKeyType !== 'ed25519')
    throw new HotcellError('invalid', `${name} is an ${key.asymmetricKeyType} key, not an Ed25519 key`);
  return key;
}
