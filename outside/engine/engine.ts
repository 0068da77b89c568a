import { type Duplex, Readable } from 'node:stream';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { within } from '@hotcell/contract/waits.ts';
import Docker from 'dockerode';
import { z } from 'zod';
import { demux, type Piece } from './demux.ts';
import { explainEngineError, refusalStatusOf } from './engine-errors.ts';

/** How long a call may take before the engine counts as hung. Generous: a busy machine is not a broken one. */
const boundMs = { look: 20_000, change: 60_000, start: 60_000 };

export type CreateOptions = Omit<Docker.ContainerCreateOptions, 'name' | 'abortSignal' | 'HostConfig'> & {
  // In the API, but not yet in dockerode's types.
  HostConfig?: Docker.HostConfig & { CgroupnsMode?: 'private' | 'host' };
};
export type Inspected = Docker.ContainerInspectInfo;
export type InspectedImage = Docker.ImageInspectInfo;
export interface ListedContainer {
  id: string;
  name: string;
  state: string;
  labels: Readonly<Record<string, string>>;
}
export interface Attached {
  /** The container's stdin. */
  input: Duplex;
  /** The container's output, at the reader's pace. It can be read once. */
  output: AsyncIterable<Piece>;
  /** Close the stream: with StdinOnce, the container's stdin ends too. */
  close(): void;
}

const PathStat = z.looseObject({ mode: z.number(), linkTarget: z.string() });
type PathStat = z.output<typeof PathStat>;

const Info = z.looseObject({ Warnings: z.array(z.string()).nullish() });

/** The only door to the container engine. Every call is bounded in time: an engine that hangs costs one attempt. */
export class Engine {
  readonly #docker: Docker;

  /** `address` is a socket's path, `unix://…`, or `tcp://host:port` (https with the certificates of the environment). */
  constructor(address: string) {
    const path = address.startsWith('unix://') ? address.slice('unix://'.length) : address;
    const url = path.startsWith('/') ? undefined : new URL(path);
    this.#docker = new Docker(
      url
        ? { host: url.hostname, port: url.port || '2376', protocol: url.protocol === 'https:' ? 'https' : 'http' }
        : { socketPath: path },
    );
  }

  async version(): Promise<{ engine: string; architecture: string }> {
    const found = await this.#bounded('report its version', boundMs.look, () => this.#docker.version());
    return { engine: found.Version, architecture: found.Arch };
  }

  /** Whether the kernel bounds the use of disks. If it can't, the engine leaves the bounds out of a container. */
  async boundsDisks(): Promise<boolean> {
    const info = Info.parse(await this.#bounded('report on itself', boundMs.look, () => this.#docker.info()));
    return !(info.Warnings ?? []).some((line) => /blkio throttle|io\.max/i.test(line));
  }

  /**
   * The engine's version, by the cheapest request there is: to report its full version an engine runs its helper
   * programs and asks for theirs.
   */
  async ping(): Promise<string> {
    const { modem } = this.#docker;
    const ping = { path: '/_ping', method: 'GET', isStream: true, statusCodes: { 200: true } } as const;
    const answer = await this.#bounded('answer', boundMs.look, (abortSignal) => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      modem.dial({ ...ping, abortSignal }, (error, data) => (error ? reject(error) : resolve(data)));
      return promise;
    });
    const said = /^[^/ ]+\/([^ ]+)/.exec(headerOf(answer, 'server'))?.[1];
    return said ?? (await this.version()).engine;
  }

  /** The image, or an error that says how to get it. */
  async image(name: string): Promise<InspectedImage> {
    return await this.#bounded(`inspect the image ${name}`, boundMs.look, () => this.#docker.getImage(name).inspect());
  }

  /** The new container's id; undefined if the name is taken. */
  async create(name: string, options: CreateOptions): Promise<string | undefined> {
    // Only the name belongs in the URL; dockerode would put all options there.
    const request = { _query: { name }, _body: options } as Docker.ContainerCreateOptions;
    const made = this.#bounded(`create the container ${name}`, boundMs.change, (abortSignal) =>
      this.#docker.createContainer({ ...request, abortSignal }),
    );
    return (await unless([409], made))?.id;
  }

  /** Before the start, and hijacked: otherwise the first bytes in either direction may be lost silently. */
  async attach(id: string): Promise<Attached> {
    const socket = (await this.#bounded(`attach to ${id}`, boundMs.look, (abortSignal) =>
      this.#docker
        .getContainer(id)
        .attach({ stream: true, stdin: true, stdout: true, stderr: true, hijack: true, abortSignal }),
    )) as Duplex;
    // A broken connection is treated as one that ended: the reader notices what is missing and asks the engine. Without
    // a listener, an error after the last read would end the process.
    socket.on('error', () => undefined);
    return { input: socket, output: demux(untilItBreaks(socket)), close: () => socket.destroy() };
  }

  async start(id: string): Promise<void> {
    await this.#bounded(`start ${id}`, boundMs.start, (abortSignal) =>
      this.#docker.getContainer(id).start({ abortSignal }),
    );
  }

  /** The exit code once the container has ended; undefined if it has not ended in time. */
  async wait(id: string, withinMs: number): Promise<number | undefined> {
    let late = false;
    try {
      const ended: unknown = await this.#bounded(`wait for ${id}`, withinMs, (abortSignal) => {
        abortSignal.addEventListener('abort', () => (late = true));
        return this.#docker.getContainer(id).wait({ abortSignal });
      });
      const code = ended !== null && typeof ended === 'object' && 'StatusCode' in ended ? ended.StatusCode : undefined;
      return typeof code === 'number' ? code : undefined;
    } catch (error) {
      if (late) return undefined;
      throw error;
    }
  }

  /** A container that is gone, or has ended, needs no kill. */
  async kill(id: string): Promise<void> {
    const killed = this.#bounded(`kill ${id}`, boundMs.change, (abortSignal) =>
      this.#docker.getContainer(id).kill({ signal: 'SIGKILL', abortSignal }),
    );
    await unless([404, 409], killed);
  }

  /** By force, with its anonymous volumes. True if it is gone now; false while another call is removing it. */
  async remove(id: string): Promise<boolean> {
    const removed = this.#bounded(`remove ${id}`, boundMs.change, (abortSignal) =>
      this.#docker.getContainer(id).remove({ force: true, v: true, abortSignal }),
    );
    const gone = unless([404], removed).then(() => true);
    return (await unless([409], gone)) ?? false;
  }

  async inspect(id: string): Promise<Inspected | undefined> {
    const inspected = this.#bounded(`inspect ${id}`, boundMs.look, (abortSignal) =>
      this.#docker.getContainer(id).inspect({ abortSignal }),
    );
    return await unless([404], inspected);
  }

  /** All containers, running or not, that have these labels (`name=value`). */
  async list(labels: readonly string[]): Promise<ListedContainer[]> {
    const found = await this.#bounded('list the containers', boundMs.look, (abortSignal) =>
      this.#docker.listContainers({ all: true, filters: { label: [...labels] }, abortSignal }),
    );
    return found.map((one) => ({
      id: one.Id,
      name: (one.Names[0] ?? '').replace(/^\//, ''),
      state: one.State,
      labels: one.Labels,
    }));
  }

  /** The file at a path of a container, without following links; undefined if there is none. */
  async stat(id: string, path: string): Promise<PathStat | undefined> {
    const asked = this.#bounded(`look at ${path} in ${id}`, boundMs.look, (abortSignal) =>
      this.#docker.getContainer(id).infoArchive({ path, abortSignal }),
    );
    const answer: unknown = await unless([404], asked);
    if (answer === undefined) return undefined;
    const text = Buffer.from(headerOf(answer, 'x-docker-container-path-stat'), 'base64').toString('utf8');
    return parseJsonAs(PathStat, text, "the engine's description of a path", 'cell_failed');
  }

  async #bounded<T>(what: string, ms: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const late = () => new HotcellError('engine_unavailable', `The engine did not ${what} within ${ms / 1000} s.`);
    try {
      return await within(ms, late, call);
    } catch (error) {
      throw explainEngineError(error, what);
    }
  }
}

/** The answer; undefined if the engine refuses with one of these HTTP statuses. */
async function unless<T>(statuses: readonly number[], answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof HotcellError && statuses.includes(refusalStatusOf(error.cause) ?? 0)) return undefined;
    throw error;
  }
}

async function* untilItBreaks(socket: Duplex): AsyncGenerator<Buffer> {
  try {
    yield* socket as AsyncIterable<Buffer>;
  } catch (error) {
    // An error of the reader's own is not the connection's.
    if (!socket.destroyed) throw error;
  }
}

/** Drains the empty body: until its end is read the connection stays open, and the process alive. */
function headerOf(answer: unknown, name: string): string {
  if (answer instanceof Readable) answer.resume();
  const headers = answer !== null && typeof answer === 'object' && 'headers' in answer ? answer.headers : undefined;
  const header = z.looseObject({ [name]: z.string() }).safeParse(headers);
  return header.success ? String(header.data[name]) : '';
}
