import { type Duplex, Readable } from 'node:stream';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
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
  createdAt: Date;
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
export interface PathStat {
  name: string;
  mode: number;
  linkTarget: string;
}

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
    try {
      const made = await this.#bounded(`create the container ${name}`, boundMs.change, (abortSignal) =>
        // Only the name belongs in the URL; dockerode would put all options there.
        this.#docker.createContainer({
          _query: { name },
          _body: options,
          abortSignal,
        } as Docker.ContainerCreateOptions),
      );
      return made.id;
    } catch (error) {
      if (error instanceof HotcellError && refusalStatusOf(error.cause) === 409) return undefined;
      throw error;
    }
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

  /** True if it was running. */
  async kill(id: string, signal = 'SIGKILL'): Promise<boolean> {
    return await this.#orIgnore([404, 409], () =>
      this.#bounded(`kill ${id}`, boundMs.change, (abortSignal) =>
        this.#docker.getContainer(id).kill({ signal, abortSignal }),
      ),
    );
  }

  /** By force, with its anonymous volumes. True if it is gone now; false while another call is removing it. */
  async remove(id: string): Promise<boolean> {
    const remove = () =>
      this.#bounded(`remove ${id}`, boundMs.change, (abortSignal) =>
        this.#docker.getContainer(id).remove({ force: true, v: true, abortSignal }),
      );
    return await this.#orIgnore([409], () => this.#orIgnore([404], remove));
  }

  async inspect(id: string): Promise<Inspected | undefined> {
    try {
      return await this.#bounded(`inspect ${id}`, boundMs.look, (abortSignal) =>
        this.#docker.getContainer(id).inspect({ abortSignal }),
      );
    } catch (error) {
      if (error instanceof HotcellError && refusalStatusOf(error.cause) === 404) return undefined;
      throw error;
    }
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
      createdAt: new Date(one.Created * 1000),
      labels: one.Labels,
    }));
  }

  /** The file at a path of a container, without following links; undefined if there is none. */
  async stat(id: string, path: string): Promise<PathStat | undefined> {
    try {
      const answer = await this.#bounded(`look at ${path} in ${id}`, boundMs.look, (abortSignal) =>
        this.#docker.getContainer(id).infoArchive({ path, abortSignal }),
      );
      return pathStat(headerOf(answer, 'x-docker-container-path-stat'));
    } catch (error) {
      if (error instanceof HotcellError && refusalStatusOf(error.cause) === 404) return undefined;
      throw error;
    }
  }

  async #orIgnore(statuses: readonly number[], call: () => Promise<unknown>): Promise<boolean> {
    try {
      await call();
      return true;
    } catch (error) {
      if (error instanceof HotcellError && statuses.includes(refusalStatusOf(error.cause) ?? 0)) return false;
      throw error;
    }
  }

  async #bounded<T>(what: string, ms: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    // Not `AbortSignal.timeout`: its timer would outlive the call, ten times for each run.
    const over = new AbortController();
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      late.reject(new HotcellError('engine_unavailable', `the engine did not ${what} within ${ms / 1000} s`));
      over.abort();
    }, ms).unref();
    // Raced, not only aborted: a call that ignores its abort must not hold its caller.
    try {
      return await Promise.race([call(over.signal), late.promise]);
    } catch (error) {
      throw explainEngineError(error, what);
    } finally {
      clearTimeout(timer);
    }
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

const PathStatHeader = z.looseObject({ name: z.string(), mode: z.number(), linkTarget: z.string() });

/** Drains the empty body: until its end is read the connection stays open, and the process alive. */
function headerOf(answer: unknown, name: string): string {
  if (answer instanceof Readable) answer.resume();
  const headers = answer !== null && typeof answer === 'object' && 'headers' in answer ? answer.headers : undefined;
  const header = z.looseObject({ [name]: z.string() }).safeParse(headers);
  return header.success ? String(header.data[name]) : '';
}

function pathStat(text: string): PathStat {
  const { name, mode, linkTarget } = parseJsonAs(
    PathStatHeader,
    Buffer.from(text, 'base64').toString('utf8'),
    "the engine's description of a path",
    'cell_failed',
  );
  return { name, mode, linkTarget };
}
