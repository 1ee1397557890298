/** What calendars are asked for over HTTP. */
import type { GuardedRequests } from '../../egress/guarded-request.ts';

export interface CalendarRequests {
  /** The timestamp of a digest. Throws `RequestFault`. */
  post(calendar: string, digest: Uint8Array): Promise<Uint8Array>;
  /** What the calendar knows by now of a commitment; a text when it knows nothing new. Throws `RequestFault`. */
  get(calendar: string, commitment: Uint8Array): Promise<Uint8Array | string>;
}

export interface CalendarRequestsOptions {
  requests: GuardedRequests;
  timeoutMs: number;
}

const accept = 'application/vnd.opentimestamps.v1';

export function createCalendarRequests({ requests, timeoutMs }: CalendarRequestsOptions): CalendarRequests {
  // As much as the reference client reads. `calendarAddress` has seen to it that only this machine is asked without https.
  const limits = { timeoutMs, maxBytes: 10_000, isLocal: true };

  return {
    async post(calendar, digest) {
      const { bytes } = await requests.send({
        ...{ url: `${calendar}digest`, method: 'POST', body: digest, ...limits },
        // What the reference client sends, though the body is not a form.
        headers: { accept, 'content-type': 'application/x-www-form-urlencoded' },
      });
      return bytes;
    },
    async get(calendar, commitment) {
      const url = `${calendar}timestamp/${Buffer.from(commitment).toString('hex')}`;
      const answer = await requests.send({ url, headers: { accept }, statuses: [200, 404], ...limits });
      return answer.status === 404 ? harmlessText(answer.bytes) : answer.bytes;
    },
  };
}

/** A calendar explains in a line of text why it knows nothing. Without line breaks, it cannot pretend to be two log lines. */
function harmlessText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.subarray(0, 160)).toString('latin1');
  return text.replace(/[^A-Za-z0-9#\-.,; ]/g, '_');
}
