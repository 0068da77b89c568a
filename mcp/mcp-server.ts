import { McpServer } from '@modelcontextprotocol/server';
import project from './package.json' with { type: 'json' };
import { addPrompts } from './prompts.ts';
import { addResources } from './resources.ts';
import type { AddTool, Served } from './tool.ts';
import { cancelJob, getJob, submitJobTool, waitJob } from './tools/job-tools.ts';
import { readLogs } from './tools/log-tool.ts';
import { listOutputs, readOutputTool } from './tools/output-tools.ts';
import { listPolicies } from './tools/policy-tool.ts';
import { runCode } from './tools/run-code-tool.ts';
import { closeSession, openSession, runStep } from './tools/session-tools.ts';
import { createSnapshot } from './tools/snapshot-tool.ts';

/** In the order in which clients see them. It stays the same, so that models' caches keep what they hold. */
const tools: readonly AddTool[] = [
  runCode,
  submitJobTool,
  getJob,
  waitJob,
  readLogs,
  listOutputs,
  readOutputTool,
  cancelJob,
  createSnapshot,
  listPolicies,
  openSession,
  runStep,
  closeSession,
];

const instructions = [
  'Hotcell runs code in sealed cells and keeps a record of every run.',
  'Use run_code for what ends soon, submit_job and wait_job for what takes long.',
  'Use open_session, run_step and close_session for steps that build on each other.',
  'Bring data as snapshots and read it at /inputs; write what shall stay to /outputs.',
  'A failed program is an answer with its reason: change the code and try again. A refusal lists every reason and what is allowed.',
].join(' ');

const staysFor = { ttlMs: 60_000, cacheScope: 'private' } as const;

/** One server for one connection or request: it keeps nothing between calls, since every run is in the record. */
export function mcpServer(served: Served): McpServer {
  const { name, version } = { name: 'hotcell', version: project.version };
  const server = new McpServer(
    { name, title: 'Hotcell', version },
    {
      instructions,
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false },
        prompts: { listChanged: false },
      },
      cacheHints: { 'tools/list': staysFor, 'server/discover': staysFor, 'prompts/list': staysFor },
    },
  );
  for (const add of tools) add(server, served);
  addResources(server, served.api);
  addPrompts(server, served.api);
  return server;
}
