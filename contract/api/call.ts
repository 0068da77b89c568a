import { type JsonAnswer, json, ndjson, type Route } from './route.ts';
import { HotcellError } from '../errors.ts';
import { parseOurs } from '../parse.ts';
import type { z } from 'zod';

type Input<S> = S extends z.ZodType ? z.input<S> : never;

/** What a caller passes to a route of the table. */
export type Call<R extends Route> = {
  query?: R extends { query: infer S } ? Partial<Input<S>> : never;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
} & (R extends { params: infer S } ? { params: Input<S> } : unknown) &
  (R extends { body: { schema: infer S; optional: true } }
    ? { json?: Input<S> }
    : R extends { body: { schema: infer S; type: typeof json } }
      ? { json: Input<S> }
      : R extends { body: unknown }
        ? { body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> }
        : unknown);

export function addressOf({ path }: Route, { params = {}, query = {} }: { params?: object; query?: object }): string {
  const values = new Map(Object.entries(params));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const parts = String(values.get(name)).split('/');
    // An address with such a part names another route: what a stranger calls a file must not.
    if (parts.some((part) => part === '.' || part === '..'))
      throw new HotcellError('invalid', `${name} must not have a part . or .. in it.`);
    return parts.map(encodeURIComponent).join(name === 'path' ? '/' : '%2F');
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined) search.append(name, String(one));
  return search.size > 0 ? `${filled}?${search.toString()}` : filled;
}

export async function readAnswer<R extends Route>(route: R, answer: Response): Promise<JsonAnswer<R>> {
  const schema = route.answers[answer.status]?.content?.[json];
  if (!schema) throw unexpected(route, `answered ${answer.status}`);
  return parseOurs(schema, await answer.text(), nameOf(route)) as JsonAnswer<R>;
}

type RowSchema<A> = A extends { 200: { content: { 'application/x-ndjson': infer S extends z.ZodType } } } ? S : never;

/** A row of a route that streams. */
export type Row<R extends Route> = z.output<RowSchema<R['answers']>>;

export function parseRow<R extends Route>(route: R, line: string): Row<R> {
  const schema = route.answers[200]?.content?.[ndjson];
  if (!schema) throw unexpected(route, 'streams no rows');
  return parseOurs(schema, line, nameOf(route)) as Row<R>;
}

const nameOf = ({ method, path }: Route) => `The answer to ${method} ${path}`;

function unexpected({ method, path }: Route, what: string): HotcellError {
  return new HotcellError('internal', `${method} ${path} ${what}. Client and API may be of different versions.`);
}
