import { z } from 'zod';
import type { Role } from '../apikey.ts';

export const json = 'application/json';
export const problemJson = 'application/problem+json';
export const ndjson = 'application/x-ndjson';
export const eventStream = 'text/event-stream';
export const octets = 'application/octet-stream';
export const plainText = 'text/plain';

export interface AnswerShape {
  description: string;
  /** A schema for each content type; of a stream, the schema of one row. Absent: no body. */
  content?: Readonly<Record<string, z.ZodType>>;
  headers?: Readonly<Record<string, string>>;
}

/** One operation: what the server registers, the client calls and /openapi.json describes. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: `/${string}`;
  summary: string;
  description?: string;
  tag: string;
  /** The least role that may ask. `operator`: an admin of the default tenant; `anyone`: no key needed. */
  role: Role | 'operator' | 'anyone';
  /** The least role that admission lets pass, where it judges the role so that a refusal has a record. */
  judged?: Role;
  params?: z.ZodObject;
  query?: z.ZodObject;
  headers?: z.ZodObject;
  /** `parsedBy: 'handler'`: the server hands it on as it came. */
  body?: {
    schema: z.ZodType;
    type: typeof json | typeof octets;
    optional?: boolean;
    parsedBy?: 'handler';
    /** Less than what every body may have. */
    mostBytes?: number;
  };
  answers: Readonly<Record<number, AnswerShape>>;
  /** Statuses of problems, beside those that every route of its kind answers. */
  problems?: readonly number[];
}

type RouteRest = Omit<Route, 'method' | 'path' | 'tag' | 'role' | 'summary'>;

/** Makes the routes of one tag: `route('GET /v1/runs', 'reader', 'List runs', …)`. */
export const tagged =
  (tag: string) =>
  <M extends Route['method'], P extends Route['path'], R extends Route['role'], const T extends RouteRest>(
    at: `${M} ${P}`,
    role: R,
    summary: string,
    rest: T,
  ) => {
    const [method, path] = at.split(' ') as [M, P];
    return { method, path, tag, role, summary, ...rest };
  };

/** Schemas with a name in /openapi.json; requests apart from answers, since a default makes the two differ. */
export const requestSchemas = z.registry<{ id: string }>();
export const answerSchemas = z.registry<{ id: string }>();

const namedIn =
  (registry: typeof requestSchemas) =>
  <S extends z.ZodType>(id: string, schema: S): S => {
    registry.add(schema, { id });
    return schema;
  };
export const requestSchema = namedIn(requestSchemas);
export const answerSchema = namedIn(answerSchemas);
export const requestObject = <S extends z.ZodRawShape>(id: string, shape: S) =>
  requestSchema(id, z.strictObject(shape));
export const answerObject = <S extends z.ZodRawShape>(id: string, shape: S) => answerSchema(id, z.strictObject(shape));

export function jsonAnswer<S extends z.ZodType>(description: string, schema: S, headers?: Record<string, string>) {
  return { description, content: { [json]: schema }, ...(headers && { headers }) };
}

export function jsonBody<S extends z.ZodType>(schema: S) {
  return { schema, type: json } as const;
}

type Output<S> = S extends z.ZodType ? z.output<S> : undefined;

/** A request as the server has parsed it. */
export interface Parsed<R extends Route> {
  params: R extends { params: infer S } ? Output<S> : undefined;
  query: R extends { query: infer S } ? Output<S> : undefined;
  headers: R extends { headers: infer S } ? Output<S> : undefined;
  body: R extends { body: { parsedBy: 'handler' } }
    ? unknown
    : R extends { body: { schema: infer S; optional: true } }
      ? Output<S> | undefined
      : R extends { body: { schema: infer S } }
        ? Output<S>
        : undefined;
}

type JsonOf<A> = A extends { content: { 'application/json': infer S } } ? Output<S> : never;

/** What the route says in JSON, whatever the status. */
export type JsonAnswer<R extends Route> = { [S in keyof R['answers']]: JsonOf<R['answers'][S]> }[keyof R['answers']];

/** A number in a query or header: digits, and nothing else that JavaScript would take for a number. */
export function inDigits<S extends z.ZodNumber>(schema: S) {
  return z.preprocess((text) => (typeof text === 'string' && /^-?\d{1,16}$/.test(text) ? Number(text) : text), schema);
}
