/**
 * The engine as the service sees it: a child process that executes transactions and calls. It has no port, no database and
 * no file: whatever it needs it asks for over its channel, so it can be ended at any time and nothing is lost.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { once } from '../../../runtime/loop.ts';
import type { EngineErrorKind, EngineMethod, EngineRequests, FromEngine, ToEngine } from './protocol.ts';

/** The engine could not answer. `lost`: its process ended or was ended, and the next request starts another. */
export class EngineFailure extends Error {
  readonly kind: EngineErrorKind | 'lost' | 'busy';

  constructor(kind: EngineFailure['kind'], message: string) {
    super(message);
    this.name = 'EngineFailure';
    this.kind = kind;
  }
}

export function isMissingNode(error: unknown): boolean {
  return error instanceof EngineFailure && error.kind === 'missing';
}

export interface AskOptions {
  /** Before all requests that wait without it. */
  first?: boolean;
  /** From the moment the engine begins with it. A request that takes longer costs the process. */
  timeoutMs?: number;
}

export interface Engine {
  ask<M extends EngineMethod>(
    method: M,
    given: EngineRequests[M]['arguments'],
    options?: AskOptions,
  ): Promise<EngineRequests[M]['answer']>;
  /** Null between a loss and the next request. */
  pid(): number | null;
  close(): Promise<void>;
}

export interface EngineOptions {
  chainId: number;
  readNode(key: Uint8Array): Promise<Uint8Array | null>;
  readBlockHash(number: number): Promise<`0x${string}` | null>;
  /** Called when the process ended without being asked to. */
  onLoss?(reason: string): void;
}

const program = fileURLToPath(new URL('engine.process.ts', import.meta.url));
const mostHeapMegabytes = 128;
const usualTimeoutMs = 10_000;
const startTimeoutMs = 30_000;
/** Each waiting request may hold a raw transaction or call data. */
const mostWaiting = 256;

interface Request {
  id: number;
  method: EngineMethod;
  arguments: unknown;
  timeoutMs: number;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/** The engine does one thing at a time; requests wait here. */
export function createEngine(options: EngineOptions): Engine {
  const waiting: { first: Request[]; usual: Request[] } = { first: [], usual: [] };
  let child: ChildProcess | null = null;
  let ready = false;
  let running: Request | null = null;
  let timer: NodeJS.Timeout | null = null;
  let closed = false;
  let nextId = 1;

  function start(): void {
    ready = false;
    const started = fork(program, {
      cwd: '/',
      // Passes nothing of our environment, which may contain secrets.
      env: {},
      execArgv: [
        `--max-old-space-size=${mostHeapMegabytes}`,
        // With the little that V8 derives from it, collecting garbage was measured to take more than half of the time.
        '--max-semi-space-size=16',
        // It may read its own program, and neither write files nor start anything.
        ...['--permission', '--allow-fs-read=*'],
      ],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // In its own session it is not hit by a Ctrl-C that the service still has to act on.
      detached: true,
    });
    child = started;
    started.on('message', (message) => started === child && hear(message as FromEngine, started));
    started.once('error', (error) => lose(started, error.message));
    started.once('exit', (code, signal) => lose(started, `exit ${code ?? signal}`));
    limit(startTimeoutMs);
  }

  function limit(timeoutMs: number): void {
    if (timer) clearTimeout(timer);
    timer = setTimeout(() => child && lose(child, `no answer within ${timeoutMs} ms`), timeoutMs);
    timer.unref();
  }

  /** Also ends it, in case it only hangs. Another one is started at once, unless this one never got ready. */
  function lose(lost: ChildProcess, reason: string): void {
    if (lost !== child) return;
    const failure = new EngineFailure('lost', `the engine of the embedded chain was lost: ${reason}`);
    const unheard = ready ? [] : [...waiting.first.splice(0), ...waiting.usual.splice(0)];
    const restart = ready && !closed;
    child = null;
    ready = false;
    if (timer) clearTimeout(timer);
    lost.kill('SIGKILL');
    const request = running;
    running = null;
    if (!closed) options.onLoss?.(reason);
    for (const { reject } of [request, ...unheard].filter((one) => one !== null)) reject(failure);
    if (restart) start();
  }

  function hear(message: FromEngine, from: ChildProcess): void {
    if (message.kind === 'ready') {
      ready = true;
      if (timer) clearTimeout(timer);
      proceed();
    } else if (message.kind === 'need-node') {
      const { need, key } = message;
      supply(options.readNode(key), from, (value) => ({ kind: 'node', need, value }));
    } else if (message.kind === 'need-block-hash') {
      const { need, number } = message;
      supply(options.readBlockHash(number), from, (hash) => ({ kind: 'block-hash', need, hash }));
    } else finish(message);
  }

  function finish(message: Extract<FromEngine, { kind: 'answer' | 'failure' }>): void {
    const request = running;
    if (!request || request.id !== message.id) return;
    running = null;
    if (timer) clearTimeout(timer);
    if (message.kind === 'answer') request.resolve(message.answer);
    else request.reject(new EngineFailure(message.errorKind, message.message));
    proceed();
  }

  /** A read that fails, e.g. because the database is away, fails the request that needed it. */
  function supply<T>(reading: Promise<T>, to: ChildProcess, wrap: (value: T) => ToEngine): void {
    reading.then(
      (value) => to === child && to.connected && to.send(wrap(value)),
      (error) => {
        if (to !== child) return;
        const request = running;
        running = null;
        request?.reject(error);
        // The engine still waits for the node.
        lose(to, 'the state could not be read');
      },
    );
  }

  function proceed(): void {
    if (running || closed) return;
    if (waiting.first.length === 0 && waiting.usual.length === 0) return;
    if (!child) start();
    if (!ready || !child) return;
    const request = waiting.first.shift() ?? waiting.usual.shift();
    if (!request) return;
    running = request;
    limit(request.timeoutMs);
    const { resolve: _resolve, reject: _reject, ...asked } = request;
    const message: ToEngine = { kind: 'request', chainId: options.chainId, ...asked };
    // A channel that just broke reports itself by 'exit'.
    child.send(message, () => {});
  }

  return {
    ask(method, given, { first = false, timeoutMs = usualTimeoutMs } = {}) {
      return new Promise((resolve, reject) => {
        if (closed) return reject(new EngineFailure('lost', 'the engine of the embedded chain is closed'));
        const queue = first ? waiting.first : waiting.usual;
        if (!first && queue.length >= mostWaiting) {
          return reject(new EngineFailure('busy', 'too many requests are waiting for the embedded chain'));
        }
        const request = { id: nextId, method, arguments: given, timeoutMs, resolve, reject };
        nextId += 1;
        queue.push(request as Request);
        proceed();
      });
    },
    pid: () => child?.pid ?? null,
    close: once(async () => {
      closed = true;
      for (const { reject } of [...waiting.first, ...waiting.usual]) {
        reject(new EngineFailure('lost', 'the engine of the embedded chain is closed'));
      }
      const ending = child;
      if (!ending) return;
      const gone = new Promise((resolve) => ending.once('exit', resolve));
      lose(ending, 'it is closed');
      if (ending.exitCode === null && ending.signalCode === null) await gone;
    }),
  };
}
