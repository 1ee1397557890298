/** POST /chain: lets the browser ask the chain of the service, which answers only what a verification needs. */
import { serviceUrl } from '../../server/holdfast.js';

export async function POST(request) {
  const body = await request.text();
  if (body.length > 4096) return new Response(null, { status: 413 });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${serviceUrl}/verify/rpc`, { method: 'POST', headers, body });
  return new Response(answer.body, { status: answer.status, headers });
}
