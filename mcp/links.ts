import type { ResourceLink } from '@modelcontextprotocol/server';

/** The addresses of what is longer than an answer. Only this server understands them. */
export const logUri = 'hotcell://runs/{run}/log';
export const outputUri = 'hotcell://runs/{run}/outputs/{+path}';

export function logLink(run: string): ResourceLink {
  const uri = logUri.replace('{run}', run);
  return {
    type: 'resource_link',
    uri,
    name: `log of ${run}`,
    mimeType: 'text/plain',
    description: 'the log, stdout and stderr together',
  };
}

export function outputLink(run: string, path: string): ResourceLink {
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  const uri = outputUri.replace('{run}', run).replace('{+path}', () => encoded);
  return { type: 'resource_link', uri, name: path, description: 'a file that the run left in /outputs' };
}
