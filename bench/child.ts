/** Child processes of the benchmark: they answer one message with one message, and end when the benchmark does. */
import { fork } from 'node:child_process';
import { once } from 'node:events';

export interface Child<Question, Answer> {
  pid: number;
  /** One question at a time. */
  ask(question: Question, timeoutMs: number): Promise<Answer>;
  stop(): Promise<void>;
}

type Message<Answer> = { answer: Answer } | { fault: string };

const longestStopMs = 5_000;

export function startChild<Question extends object, Answer>(file: URL): Child<Question, Answer> {
  const child = fork(file, { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const exited = once(child, 'exit');

  return {
    pid: child.pid ?? 0,
    ask(question, timeoutMs) {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      const onMessage = (message: unknown) => {
        const told = message as Message<Answer>;
        if ('fault' in told) reject(new Error(told.fault));
        else resolve(told.answer);
      };
      const onExit = () => reject(new Error(`${file.pathname} ended`));
      const timer = setTimeout(
        () => reject(new Error(`${file.pathname} did not answer within ${timeoutMs} ms`)),
        timeoutMs,
      );
      child.once('message', onMessage).once('exit', onExit);
      if (child.connected) child.send(question);
      else onExit();
      return promise.finally(() => {
        clearTimeout(timer);
        child.off('message', onMessage).off('exit', onExit);
      });
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      if (child.connected) child.disconnect();
      const timer = setTimeout(() => child.kill('SIGKILL'), longestStopMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** The other side: what such a child runs. */
export function answerQuestions<Question, Answer>(answer: (question: Question) => Promise<Answer>): void {
  const tell = (message: Message<Answer>) => {
    if (process.connected) process.send?.(message);
  };
  process.on('message', (question) => {
    answer(question as Question).then(
      (answer) => tell({ answer }),
      (error) => tell({ fault: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  });
  process.on('disconnect', () => process.exit());
  // Ctrl-C reaches the whole process group; the benchmark stops us in its order.
  process.on('SIGINT', () => {});
}
