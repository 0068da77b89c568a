import { Resolver } from 'node:dns/promises';
import { type ClientRequest, type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { isIP } from 'node:net';
import { chooseAddress, hostOf, judgeWebhookUrl, type OwnNetworks } from '@hotcell/contract/address-guard.ts';
import { messageOf } from '@hotcell/contract/errors.ts';

/** From the first packet to the end of what is read of the answer. */
const answerMs = 10_000;
const resolveMs = 2_000;
const mostRead = 1_000;

export interface Posted {
  /** Null: there was no answer. */
  status: number | null;
  said: string;
}

/**
 * Sends once. The name is resolved once, and the connection goes to the very address that was judged. A redirect is an
 * answer like any other, and nothing follows it.
 */
export async function postWebhook(
  address: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  own: OwnNetworks,
): Promise<Posted> {
  const judged = judgeWebhookUrl(address, own);
  if ('refused' in judged) return refusedHere(`The address ${judged.refused}.`);
  const { url } = judged;
  try {
    const chosen = chooseAddress(url, await addressesOf(hostOf(url)), own);
    if ('refused' in chosen) return refusedHere(`${url.hostname}: ${chosen.refused}.`);
    return await send(url, chosen.address, body, headers);
  } catch (error) {
    return { status: null, said: plain(messageOf(error)) };
  }
}

const refusedHere = (why: string): Posted => ({ status: null, said: plain(`Not sent. ${why}`) });

/** By a resolver of our own: one that is slow holds up no thread that others need. */
async function addressesOf(host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  const resolver = new Resolver({ timeout: resolveMs, tries: 1 });
  const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
}

async function send(
  url: URL,
  address: string,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<Posted> {
  const signal = AbortSignal.timeout(answerMs);
  const host = hostOf(url);
  const options = {
    ...{ method: 'POST', host: address, port: url.port || undefined, path: `${url.pathname}${url.search}` },
    // A connection of its own, which nothing keeps.
    ...{ agent: false, signal, setHost: false },
    headers: { ...headers, host: url.host, 'content-length': Buffer.byteLength(body), connection: 'close' },
  } as const;
  const sni = isIP(host) === 0 ? { servername: host } : {};
  const request: ClientRequest = url.protocol === 'https:' ? overHttps({ ...options, ...sni }) : overHttp(options);
  const answered = Promise.withResolvers<Posted>();
  request.once('response', (answer) => answered.resolve(readAnswer(answer)));
  // 101: what follows is of another protocol, without an end, and is not read.
  request.once('upgrade', ({ statusCode }, socket) => {
    socket.destroy();
    answered.resolve({ status: statusCode ?? null, said: '' });
  });
  request.on('error', answered.reject);
  // After all of these: a connection that closes in any other way settles it, too.
  request.once('close', () => answered.reject(new Error('The connection closed without an answer.')));
  request.end(body);
  try {
    return await answered.promise;
  } catch (error) {
    if (signal.aborted) return { status: null, said: `There was no whole answer within ${answerMs / 1000} s.` };
    throw error;
  } finally {
    request.destroy();
  }
}

async function readAnswer(answer: IncomingMessage): Promise<Posted> {
  let text = '';
  for await (const chunk of answer) {
    text += String(chunk);
    if (text.length >= mostRead) break;
  }
  return { status: answer.statusCode ?? null, said: plain(text) };
}

/** A stranger wrote it: it is kept short, and without what would move a terminal. */
function plain(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, mostRead);
}
