import { routes } from '@hotcell/contract/api/routes.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { type McpServer, ProtocolError, ProtocolErrorCode, ResourceTemplate } from '@modelcontextprotocol/server';
import type { Api } from './api.ts';
import { logUri, outputUri } from './links.ts';
import { readOutput } from './read-output.ts';
import { textOf } from './tools/log-tool.ts';

/** What links of answers lead to: longer than an answer, and still bounded. */
const mostBytes = 1024 * 1024;

export function addResources(server: McpServer, api: Api): void {
  server.registerResource(
    'log',
    new ResourceTemplate(logUri, { list: undefined }),
    { title: 'Log of a run', description: 'stdout and stderr as they were written', mimeType: 'text/plain' },
    (uri, { run }, { mcpReq: { signal } }) =>
      orNotFound(async () => {
        let text = '';
        const query = { tail: String(mostBytes / 2) };
        for await (const row of api.rows(routes.readLog, { params: { run: String(run) }, query, signal }))
          text += textOf(row);
        return { contents: [{ uri: uri.href, mimeType: 'text/plain', text }] };
      }),
  );
  server.registerResource(
    'output',
    new ResourceTemplate(outputUri, { list: undefined }),
    { title: 'File that a run left', description: 'a file of /outputs' },
    (uri, { run, path }, { mcpReq: { signal } }) =>
      orNotFound(async () => {
        const at = { run: String(run), path: decoded(String(path)), maxBytes: mostBytes, signal };
        const read = await readOutput(api, at);
        const { href } = uri;
        if (read.kind === 'picture') return { contents: [{ uri: href, mimeType: read.mimeType, blob: read.base64 }] };
        if (read.kind === 'binary' || !read.isWhole)
          throw new HotcellError('too_large', `${at.path} has ${read.bytes} bytes, or is no text. Run code with it.`);
        return { contents: [{ uri: href, mimeType: 'text/plain', text: read.text }] };
      }),
  );
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new HotcellError('not_found', `${path} is not a path as links have it.`);
  }
}

/** Reading a resource has no answer that says what failed: there it is an error of the protocol. */
async function orNotFound<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof HotcellError)) throw error;
    const code = error.status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
    throw new ProtocolError(code, error.message, { code: error.code, retryable: error.retryable });
  }
}
