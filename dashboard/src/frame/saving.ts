/** How a form saves: sends once, refetches everything affected, reports success, and closes. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../api/call.ts';

export interface SavingOptions<T> {
  /** What it changes, as the first element of query keys. */
  nouns: string[];
  /** `headers` for the creating request: a second click, or a retry after a lost response, creates nothing twice. */
  send(headers: Record<string, string>): Promise<T>;
  onDone(made: T): void;
}

export function useSaving<T>({ nouns, send, onDone }: SavingOptions<T>) {
  const client = useQueryClient();
  const [key] = useState(() => crypto.randomUUID());
  return useMutation<T, Error, void>({
    meta: { shown: true },
    mutationFn: () => send({ 'idempotency-key': key }),
    onError(error) {
      // Somebody else was faster: the form shows the current values.
      if (!(error instanceof ApiError) || error.status !== 412) return;
      for (const noun of nouns) void client.invalidateQueries({ queryKey: [noun] });
    },
    async onSuccess(made) {
      await Promise.all(nouns.map((noun) => client.invalidateQueries({ queryKey: [noun] })));
      onDone(made);
    },
  });
}
