/** Limits of requests that also those who plan many of them must know: an import cuts its input by them. */
export const requestLimits = {
  /** Of a body with record data, one record or many. */
  dataBytes: 1024 * 1024,
  /** Names and values of a JSON body: a thousand records of twenty fields. Larger ones would block everybody else. */
  jsonValues: 50_000,
  recordsInBatch: 1_000,
  externalIdLength: 255,
} as const;
