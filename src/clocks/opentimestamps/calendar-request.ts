/** One HTTP exchange with a calendar: vetted address, one deadline for all of it, a bounded answer, no redirects. */
import { createSecureContext } from 'node:tls';
import { Agent, buildConnector, request } from 'undici';
import { version } from '../../runtime/version.ts';
import { type AddressGuard, BlockedTarget } from '../../webhooks/exchange/address-guard.ts';

/** A calendar did not give what was asked for; the message continues "the calendar". */
export class CalendarFault extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'CalendarFault';
  }
}

export interface CalendarRequests {
  /** The timestamp of a digest. Throws `CalendarFault`. */
  post(calendar: string, digest: Uint8Array): Promise<Uint8Array>;
  /** What the calendar knows by now of a commitment; a text when it knows nothing new. Throws `CalendarFault`. */
  get(calendar: string, commitment: Uint8Array): Promise<Uint8Array | string>;
  close(): Promise<void>;
}

export interface CalendarRequestsOptions {
  guard: AddressGuard;
  timeoutMs: number;
}

/** As the reference client reads at most. */
const maxAnswerBytes = 10_000;

const headers = {
  accept: 'application/vnd.opentimestamps.v1',
  'user-agent': `holdfast/${version}`,
};

export function createCalendarRequests({ guard, timeoutMs }: CalendarRequestsOptions): CalendarRequests {
  const agent = new Agent({
    connect: guardedConnector(guard),
    allowH2: false,
    maxResponseSize: maxAnswerBytes,
    // The signal covers the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  async function exchange(
    url: string,
    options: { method: 'GET' | 'POST'; body?: Uint8Array; headers: Record<string, string> },
  ): Promise<{ status: number; bytes: Uint8Array }> {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const { statusCode: status, body } = await request(url, { ...options, dispatcher: agent, signal });
      return { status, bytes: new Uint8Array(await body.arrayBuffer()) };
    } catch (cause) {
      throw new CalendarFault(reasonOf(cause, timeoutMs), { cause });
    }
  }

  return {
    async post(calendar, digest) {
      const { status, bytes } = await exchange(`${calendar}digest`, {
        method: 'POST',
        body: digest,
        // What the reference client sends, though the body is not a form.
        headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      });
      if (status !== 200) throw new CalendarFault(explainStatus(status));
      return bytes;
    },
    async get(calendar, commitment) {
      const url = `${calendar}timestamp/${Buffer.from(commitment).toString('hex')}`;
      const { status, bytes } = await exchange(url, { method: 'GET', headers });
      if (status === 404) return harmlessText(bytes);
      if (status !== 200) throw new CalendarFault(explainStatus(status));
      return bytes;
    },
    close: () => agent.destroy(),
  };
}

/** undici does not call `lookup` for an IP address in the URL, so every connection is vetted here first. */
function guardedConnector(guard: AddressGuard): buildConnector.connector {
  const secureContext = createSecureContext();
  return (options, callback) => {
    guard.vetHost({ hostname: options.hostname, protocol: options.protocol }).then(
      (addresses) => {
        // Connects to the vetted addresses, even if the name resolves differently a moment later.
        const lookup = (_name: string, _options: unknown, done: (error: null, found: unknown) => void) =>
          done(null, addresses);
        buildConnector({ allowH2: false, secureContext, lookup: lookup as never, autoSelectFamily: true })(
          options,
          callback,
        );
      },
      (error) => callback(error, null),
    );
  };
}

function explainStatus(status: number): string {
  const moved = status >= 300 && status < 400 ? '; redirects are not followed' : '';
  return `answered with status ${status}${moved}`;
}

function reasonOf(cause: unknown, timeoutMs: number): string {
  const { name, code, message } = cause as { name?: string; code?: string; message?: string };
  if (name === 'TimeoutError') return `gave no complete answer within ${timeoutMs / 1000} s`;
  if (cause instanceof BlockedTarget) return 'has an address that is not public';
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return `answered with more than ${maxAnswerBytes} bytes`;
  return `could not be reached: ${(code || message || String(cause)).slice(0, 200)}`;
}

/** A calendar explains in a line of text why it knows nothing. Without line breaks, it cannot pretend to be two log lines. */
function harmlessText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.subarray(0, 160)).toString('latin1');
  return text.replace(/[^A-Za-z0-9#\-.,; ]/g, '_');
}
