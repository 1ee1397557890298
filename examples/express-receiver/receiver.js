/**
 * Receives Holdfast webhooks with Express: checks the signature, stores the event once, answers, and works afterwards.
 * It speaks plain HTTP on loopback: put a proxy with a certificate in front of it.
 */
import { verifyWebhook, WebhookVerificationError } from '@holdfast/client';
import express from 'express';
import { openInbox } from './inbox.js';

const { WEBHOOK_SECRET: secret = '', PORT: port = '8080', DATABASE: file = 'inbox.sqlite' } = process.env;
if (!secret.startsWith('whsec_')) {
  console.error('Set WEBHOOK_SECRET to the whsec_… of the endpoint.');
  process.exit(1);
}

/** The work. It may run again after a crash, always with the same event id: pass that on as the key of what must happen once. */
async function work(event) {
  console.log(`handled ${event.type} ${event.id}`);
}

const inbox = openInbox(file, work);
const app = express();

// The signature covers the bytes as they came, so nothing may parse them before it was checked.
app.post('/', express.raw({ type: '*/*', limit: '1mb' }), async (request, response) => {
  try {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const event = await verifyWebhook({ secret, headers: request.headers, body });
    inbox.store(event);
    response.status(204).end();
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    response.status(401).end();
  }
});

// Anything but 2xx makes the service send the event again later.
app.use((error, _request, response, _next) => {
  const status = error instanceof SyntaxError || error instanceof TypeError ? 400 : (error.status ?? 500);
  if (status === 500) console.error(error);
  response.status(status).end();
});

const server = app.listen(Number(port), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
  inbox.workOn();
});
