import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import type { KeeperAnswer, KeeperRequest } from '@hotcell/contract/keeper-protocol.ts';
import type { InstalledInit } from './cell-folder.ts';
import type { Cgroups } from './cgroups.ts';
import type { DiskBounds } from './disks.ts';
import type { Installed } from './installed.ts';
import type { Keeper } from './keeper.ts';
import { lookFromOutside } from './outside.ts';
import { readRequest } from './request-line.ts';

/** What is asked of a keeper. */
type Asked = Pick<Keeper, 'make' | 'get' | 'list' | 'remove'> & {
  parts: {
    about: KeeperAnswer<'about'>;
    cgroups: Cgroups;
    disks: DiskBounds | undefined;
    installed: Pick<Installed, 'root'>;
    init: Pick<InstalledInit, 'digest'>;
  };
};

/** How many connections may wait for an answer at once. */
const mostConnections = 512;
/** How long a caller may take to read its answer. */
const answerMs = 10_000;

/** Answers at a unix socket. It trusts no caller: the folder of the socket alone says which users may connect. */
export async function serve(keeper: Asked, path: string): Promise<Server> {
  // Of an earlier keeper: only one at a time has this folder.
  rmSync(path, { recursive: true, force: true });
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    void answer(keeper, socket);
  });
  server.maxConnections = mostConnections;
  // Every user who sees the folder may connect. Not by chmod: the path could lead elsewhere by then.
  const before = process.umask(0o111);
  server.listen(path);
  process.umask(before);
  await once(server, 'listening');
  return server;
}

async function answer(keeper: Asked, socket: Socket): Promise<void> {
  try {
    const request = await readRequest(socket);
    if (request.ask !== 'make') return endWith(socket, { ok: await answerTo(keeper, request) });
    await keeper.make(request, (uid) => {
      goAhead(socket, uid);
      return socket;
    });
  } catch (error) {
    const known = error instanceof HotcellError;
    const code = known ? error.code : 'internal';
    if (!known) process.stderr.write(`${JSON.stringify({ msg: 'a request failed', error: messageOf(error) })}\n`);
    endWith(socket, { error: { code, message: messageOf(error) } });
  }
}

/** The connection goes with its answer: one that is kept open, or not read, holds a place that others need. */
function endWith(socket: Socket, value: unknown): void {
  if (socket.destroyed) return;
  const late = setTimeout(() => socket.destroy(), answerMs);
  socket.once('close', () => clearTimeout(late));
  socket.end(line(value), () => socket.destroy());
}

const line = (value: unknown) => `${JSON.stringify(value)}\n`;

/**
 * Written at once, because the connection is given over in the same turn of the event loop: in a later one this process
 * could read what the worker sends to the cell.
 */
function goAhead(socket: Socket, uid: number): void {
  socket.write(line({ ok: { uid } }));
  if (socket.writableLength > 0) throw new HotcellError('cell_failed', 'The worker does not read the answer.');
}

async function answerTo(keeper: Asked, request: Exclude<KeeperRequest, { ask: 'make' }>): Promise<unknown> {
  const { about, installed, init } = keeper.parts;
  switch (request.ask) {
    case 'about':
      return { ...about, init: init.digest };
    case 'image':
      return { env: installed.root(request.image).note.env };
    case 'list':
      return keeper.list();
    case 'outside':
      return await lookFromOutside(keeper.get(request.cell), keeper.parts);
    case 'end':
      return await keeper.get(request.cell).end(request.withinMs);
    case 'memory':
      return keeper.get(request.cell).memory();
    case 'kill':
      await keeper.get(request.cell).kill();
      return {};
    case 'remove':
      return { isGone: await keeper.remove(request.cell) };
  }
}
