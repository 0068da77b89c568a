import { z } from 'zod';
import { errorCodes } from '../errors.ts';
import { TenantName } from '../names.ts';
import { Problem, problemStatuses } from './problem.ts';
import { type AnswerShape, answerSchemas, problemJson, requestSchemas, type Route } from './route.ts';
import { routes } from './routes.ts';

type Json = Record<string, unknown>;

/** What every route of this kind may answer beside what it says itself. */
function problemsOf({ role, method, query, problems = [] }: Route): number[] {
  // 404: a tenant that was never made, in the operator's header.
  const known = role === 'anyone' ? [] : [400, 401, 403, 404, 429, 503];
  const withBody = method === 'GET' ? [] : [400, 408, 413, 415];
  return [...new Set([...known, ...withBody, ...(query ? [400] : []), ...problems, 500])].toSorted((a, b) => a - b);
}

const refTo = (id: string) => ({ $ref: `#/components/schemas/${id}` });

function components(registry: typeof answerSchemas, io: 'input' | 'output'): Json {
  const { schemas } = z.toJSONSchema(registry, { io, uri: (id) => refTo(id).$ref });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, named]) => {
      const { $schema: _schema, $id: _id, ...schema } = named;
      return [id, schema];
    }),
  );
}

function inline(schema: z.ZodType, io: 'input' | 'output'): Json {
  const id = (io === 'input' ? requestSchemas : answerSchemas).get(schema)?.id;
  if (id !== undefined) return refTo(id);
  if (schema instanceof z.ZodUnion) return { anyOf: schema.options.map((one) => inline(one as z.ZodType, io)) };
  if (schema instanceof z.ZodString) return { type: 'string' };
  throw new Error('name every schema of the API by requestSchema or answerSchema');
}

function parametersIn(place: 'path' | 'query' | 'header', shape: z.ZodObject | undefined): Json[] {
  return Object.entries(shape?.shape ?? {}).map(([name, each]) => {
    const {
      $schema: _schema,
      description,
      default: usual,
      ...schema
    } = z.toJSONSchema(each as z.ZodType, { io: 'input' });
    return {
      name,
      in: place,
      required: place === 'path' || !(each as z.ZodType).safeParse(undefined).success,
      ...(description !== undefined && { description }),
      schema: { ...schema, ...(usual !== undefined && { default: usual }) },
    };
  });
}

function answerOf({ description, content, headers }: AnswerShape): Json {
  return {
    description,
    ...(headers && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, what]) => [name, { description: what, schema: { type: 'string' } }]),
      ),
    }),
    ...(content && {
      content: Object.fromEntries(
        Object.entries(content).map(([type, schema]) => [type, { schema: inline(schema, 'output') }]),
      ),
    }),
  };
}

function problemAnswer(status: number): Json {
  const codes = Object.entries(errorCodes).filter(([, code]) => code.status === status);
  const named = codes.map(([code]) => `\`${code}\``).join(', ');
  return {
    description: `${problemStatuses[status]?.means} Codes: ${named}.`,
    content: { [problemJson]: { schema: inline(Problem, 'output') } },
    ...(status === 429 && {
      headers: { 'Retry-After': { description: 'seconds', schema: { type: 'string' } } },
    }),
  };
}

function operationOf(operationId: string, route: Route): Json {
  const { summary, description, tag, role, judged = role, body } = route;
  const tenant = z.object({
    'hotcell-tenant': TenantName.optional().describe('act for this tenant: the operator only'),
  });
  const answers = Object.entries(route.answers).map(([status, answer]) => [status, answerOf(answer)] as const);
  const problems = problemsOf(route).filter((status) => !route.answers[status]);
  return {
    operationId,
    summary,
    description: [description, role === 'anyone' ? 'Needs no key.' : `Needs the role ${judged}.`]
      .filter(Boolean)
      .join(' '),
    tags: [tag],
    ...(role === 'anyone' && { security: [] }),
    parameters: [
      ...parametersIn('path', route.params),
      ...parametersIn('query', route.query),
      ...parametersIn('header', route.headers),
      ...(role === 'anyone' ? [] : parametersIn('header', tenant)),
    ],
    ...(body && {
      requestBody: { required: !body.optional, content: { [body.type]: { schema: inline(body.schema, 'input') } } },
    }),
    responses: Object.fromEntries([...answers, ...problems.map((status) => [status, problemAnswer(status)] as const)]),
  };
}

/** The description of the whole API, from the same table that the server registers. */
export function openApi(): Json & { openapi: '3.1.0' } {
  const paths: Record<string, Json> = {};
  for (const [id, route] of Object.entries(routes))
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(id, route);
  return {
    openapi: '3.1.0',
    info: { title: 'Hotcell', version: '1', description: 'Runs agent-written code as sealed, auditable batch jobs.' },
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      schemas: { ...components(answerSchemas, 'output'), ...components(requestSchemas, 'input') },
    },
  };
}
