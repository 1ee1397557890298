/** The line of a request: its own connection in HTTP/1, a stream of a shared connection in HTTP/2. */
import type { Http2ServerRequest, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** What both have in common. */
export type Line = Pick<Socket | ServerHttp2Stream, 'setTimeout' | 'destroy'>;

export function isHttp2({ raw }: FastifyRequest): boolean {
  return raw.httpVersionMajor === 2;
}

export function lineOf(request: FastifyRequest): Line {
  return isHttp2(request) ? (request.raw as unknown as Http2ServerRequest).stream : request.raw.socket;
}

/** Whether the request ends with its headers. HTTP/2 needs no header to announce a body; the frame has a flag instead. */
export function endsWithHeaders(request: FastifyRequest): boolean {
  if (isHttp2(request)) return (request.raw as unknown as Http2ServerRequest).stream.endAfterHeaders;
  const { headers } = request;
  return headers['transfer-encoding'] === undefined && !(Number(headers['content-length'] ?? 0) > 0);
}
