import { z } from 'zod';
import { Problem } from './problem.ts';
import { answerSchema, eventStream, json, jsonBody, problemJson, requestSchema, tagged } from './route.ts';

/** Of MCP's messages only what makes them one: the protocol has its own parser. A list of them is not taken. */
const Message = requestSchema(
  'McpMessage',
  z.looseObject({ jsonrpc: z.literal('2.0', 'must be "2.0": one message of JSON-RPC, not a list') }),
);
const Reply = answerSchema('McpReply', z.looseObject({ jsonrpc: z.literal('2.0') }));
const refused = (description: string) => ({ description, content: { [json]: Reply, [problemJson]: Problem } });

/** Code as an argument of a tool; data comes as a snapshot. */
const mostBytes = 8 * 1024 * 1024;

const route = tagged('mcp');

export const mcpRoutes = {
  callMcp: route('POST /mcp', 'reader', 'Speak MCP over its Streamable HTTP transport', {
    description:
      'Revision 2026-07-28, and those before it without a session. Each tool asks this API with the key of the request, so a call counts as the requests that it makes. A page of another origin than this machine is refused.',
    body: { ...jsonBody(Message), mostBytes },
    answers: {
      200: { description: 'the answer to a request', content: { [json]: Reply, [eventStream]: z.string() } },
      202: { description: 'a notification was taken' },
      400: refused('not valid: a message, its headers, or the revision that it names'),
      404: refused('the server knows no such method'),
      406: { description: 'the answer would be of a type that is not accepted', content: { [json]: Reply } },
    },
  }),
};
