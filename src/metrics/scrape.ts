/** What the figures of one scrape of /metrics share: one question, asked once, that nobody waits long for. */

/** Scrapes within this time share an answer. */
const keptMs = 1_000;
const patienceMs = 2_000;

/** One question for all gauges of a scrape; null while there is no answer, so that the rest is still shown. */
export function askOncePerScrape<T>(ask: () => Promise<T>): () => Promise<T | null> {
  let asked: Promise<T | null> | null = null;
  let until = 0;
  return () => {
    if (asked === null || Date.now() >= until) {
      until = Date.now() + keptMs;
      const { promise: late, resolve } = Promise.withResolvers<null>();
      const timer = setTimeout(resolve, patienceMs, null);
      const answered = ask().catch(() => null);
      asked = Promise.race([answered, late]).finally(() => clearTimeout(timer));
    }
    return asked;
  };
}
