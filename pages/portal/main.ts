/** The page at /portal/{token}: one webhook endpoint and its deliveries, for whoever has the link. */
import { CallError } from '../sign/call.ts';
import { show, showTrouble } from '../sign/view.ts';
import { followColours } from '../verify/colours.ts';
import { deliveryLog } from './delivery-log.ts';
import { endpointCard } from './endpoint-card.ts';
import { createPortal } from './portal-calls.ts';

async function begin(): Promise<void> {
  const [, token = ''] = /^\/portal\/([\w-]+)\/?$/.exec(window.location.pathname) ?? [];
  if (token === '') {
    showTrouble('Open the whole link', 'The link is not complete. Open it from the message or the QR code.');
    return;
  }
  const portal = createPortal(token);
  try {
    const opened = await portal.open();
    const log = deliveryLog(portal);
    show('Webhook endpoint', endpointCard(portal, { opened, onSent: log.refresh }), log.element);
    await log.refresh();
  } catch (error) {
    const known = error instanceof CallError && error.status >= 400 && error.status < 500;
    showTrouble(known ? 'This link does not work' : 'Not reached', (error as Error).message);
  }
}

followColours();
void begin();
