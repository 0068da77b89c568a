import type { DeliveryView, WebhookView } from '@hotcell/contract/api/webhooks.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { WebhookEventType } from '@hotcell/contract/webhook.ts';
import { type Command, InvalidArgumentError } from 'commander';
import { type AtHand, asksApi } from './client.ts';
import { pairs, printRows } from './columns.ts';
import { printJson, subcommand } from './globals.ts';
import { aNumber } from './run-options.ts';

const heads = ['WEBHOOK', 'URL', 'ON', 'STATE'];
const row = ({ id, url, on, disabled }: WebhookView) => [
  ...[id, url, on.join(' '), disabled ? `disabled: ${disabled.reason}` : 'on'],
];

const deliveryHeads = ['EVENT', 'TYPE', 'AT', 'STATE', 'TRIES', 'ANSWER', 'NEXT'];
function deliveryRow({ event, type, at, state, attempts, nextAt }: DeliveryView): string[] {
  const last = attempts.at(-1);
  const answer = last ? `${last.status ?? '-'} ${last.said}`.trim().slice(0, 80) : '-';
  return [event, type, at, state, String(attempts.length), answer, nextAt ?? '-'];
}

/** One or more types, between commas. */
function eventTypes(text: string): WebhookEventType[] {
  return text.split(',').map((one) => {
    const type = WebhookEventType.safeParse(one.trim());
    if (type.success) return type.data;
    throw new InvalidArgumentError(`Choose of ${WebhookEventType.options.join(', ')}.`);
  });
}

export function define(command: Command): void {
  const create = subcommand(command, 'create', 'have events sent to an address', [
    'webhook create https://example.org/hotcell --on run.finished,batch.finished',
  ])
    .argument('<url>')
    .requiredOption('--on <types>', `which events: ${WebhookEventType.options.join(', ')}`, eventTypes);
  asksApi(create, async ({ client, globals }, url: string, { on }: { on: WebhookEventType[] }) => {
    const made = await client.webhooks.create({ url, on });
    if (globals.json) return printJson(made);
    const { id, publicKey } = made;
    process.stdout.write(
      pairs([
        ...([
          ['webhook', id],
          ['url', made.url],
          ['on', on.join(' ')],
        ] as const),
        ['key', publicKey],
      ]),
    );
  });

  const ls = subcommand(command, 'ls', 'list webhooks', ['webhook ls']);
  asksApi(ls, async ({ client, globals }) => printRows(globals, await client.webhooks.list(), heads, row));

  const callbacks = subcommand(command, 'callbacks', 'show the key by which callbacks are signed', [
    'webhook callbacks',
    'webhook deliveries callbacks',
  ]);
  asksApi(callbacks, async ({ client, globals }) => {
    const keys = await client.webhooks.callbacks();
    if (globals.json) return printJson(keys);
    process.stdout.write(
      pairs([
        ['callbacks', keys.id],
        ['key', keys.publicKey],
      ]),
    );
  });

  const deliveries = subcommand(command, 'deliveries', 'list what was sent and what was answered, newest first', [
    'webhook deliveries WEBHOOK --limit 50',
  ])
    .argument('<webhook>')
    .option('--limit <number>', 'list at most so many, up to 100', aNumber, 20);
  asksApi(deliveries, async ({ client, globals }, webhook: string, { limit }: { limit: number }) => {
    const page = await client.webhooks.deliveries(webhook, { limit });
    printRows(globals, page.deliveries, deliveryHeads, deliveryRow);
  });

  const redeliver = subcommand(command, 'redeliver', 'send an event again, from the first try on', [
    'webhook redeliver WEBHOOK EVENT',
  ])
    .argument('<webhook>')
    .argument('<event>');
  asksApi(redeliver, async ({ client, globals, note }, webhook: string, event: string) => {
    const again = await client.webhooks.redeliver(webhook, await findEvent(client, webhook, event));
    if (globals.json) printJson(again);
    else note(`Sending ${event} again. ./hotcell webhook deliveries ${webhook} shows the answer.`);
  });

  const rm = subcommand(command, 'rm', 'send nothing there any more', ['webhook rm WEBHOOK']).argument('<webhook>');
  asksApi(rm, async ({ client, globals, note }, webhook: string) => {
    await client.webhooks.remove(webhook);
    if (globals.json) printJson({ id: webhook });
    else note(`Removed webhook ${webhook}.`);
  });
}

async function findEvent(client: AtHand['client'], webhook: string, event: string): Promise<DeliveryView> {
  for (let cursor: string | undefined; ; ) {
    const page = await client.webhooks.deliveries(webhook, { limit: 100, cursor });
    const found = page.deliveries.find((one) => one.event === event);
    if (found) return found;
    if (page.next === null) throw new HotcellError('not_found', `${event} was never sent to webhook ${webhook}.`);
    cursor = page.next;
  }
}
