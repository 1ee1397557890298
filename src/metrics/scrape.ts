/** Shares one query among the gauges of a scrape of /metrics, with a time limit. */

/** Scrapes within this time share a result. */
const keptMs = 1_000;
const patienceMs = 2_000;

/** One query for all gauges of a scrape; null if it fails or is late, so that the other metrics are still reported. */
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
