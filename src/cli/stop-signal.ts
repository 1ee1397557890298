/** Ctrl-C and SIGTERM for long commands: what is under way is finished first; a second signal ends the process at once. */

export function stopOnSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(130);
      stop.abort();
    });
  return stop.signal;
}
