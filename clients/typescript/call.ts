import { type JsonAnswer, json, ndjson, type Route } from '@hotcell/contract/api/route.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { jsonIn, parseAs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';

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
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    String(values.get(name))
      .split('/')
      .map(encodeURIComponent)
      .join(name === 'path' ? '/' : '%2F'),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined) search.append(name, String(one));
  return search.size > 0 ? `${filled}?${search.toString()}` : filled;
}

export async function readAnswer<R extends Route>(route: R, answer: Response): Promise<JsonAnswer<R>> {
  const schema = route.answers[answer.status]?.content?.[json];
  if (!schema) throw unexpected(route, `answered ${answer.status}`);
  return parseTolerantly(schema, await answer.text(), nameOf(route)) as JsonAnswer<R>;
}

type RowSchema<A> = A extends { 200: { content: { 'application/x-ndjson': infer S extends z.ZodType } } } ? S : never;

/** A row of a route that streams. */
export type Row<R extends Route> = z.output<RowSchema<R['answers']>>;

export function parseRow<R extends Route>(route: R, line: string): Row<R> {
  const schema = route.answers[200]?.content?.[ndjson];
  if (!schema) throw unexpected(route, 'streams no rows');
  return parseTolerantly(schema, line, nameOf(route)) as Row<R>;
}

const nameOf = ({ method, path }: Route) => `The answer to ${method} ${path}`;

function unexpected({ method, path }: Route, what: string): HotcellError {
  return new HotcellError('internal', `${method} ${path} ${what}. Client and API may be of different versions.`);
}

/** Parses with the schema of the API, but leaves out fields that a newer API adds. */
function parseTolerantly<S extends z.ZodType>(schema: S, text: string, what: string): z.output<S> {
  const value = jsonIn(text, what, 'internal');
  const { error, data } = schema.safeParse(value);
  if (!error) return data;
  for (const { path, keys } of unknownFields(error.issues)) leaveOut(value, path, keys);
  return parseAs(schema, value, what, 'internal');
}

type Issue = z.core.$ZodIssue;

function unknownFields(issues: readonly Issue[]): { path: PropertyKey[]; keys: string[] }[] {
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') return [issue];
    if (issue.code !== 'invalid_union') return [];
    // Only unknown fields keep the value from this shape.
    const meant = issue.errors.find((errors) => errors.every(({ code }) => code === 'unrecognized_keys')) ?? [];
    return unknownFields(meant).map(({ path, keys }) => ({ path: [...issue.path, ...path], keys }));
  });
}

function leaveOut(value: unknown, path: readonly PropertyKey[], keys: readonly string[]): void {
  const inner = path.reduce((outer: unknown, step) => Object(outer)[step], value);
  for (const key of keys) Reflect.deleteProperty(Object(inner), key);
}
