/** The map of all pages. Each is loaded when it is first opened. */
import { Button, Center, Loader } from '@mantine/core';
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { meQuery } from './api/session.ts';
import { AppFrame } from './frame/app-frame.tsx';
import { EmptyState, FailureState } from './frame/states.tsx';
import { JoinPage } from './sign-in/join-page.tsx';
import { SignInPage } from './sign-in/sign-in-page.tsx';

interface PageContext {
  client: QueryClient;
}

const root = createRootRouteWithContext<PageContext>()();

/** Of this site only: browsers read a backslash as a slash, and pass over tabs and line breaks. */
const ownPath = /^\/(?![/\\])[^\\\s]*$/;

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: SignInPage,
  // Said to be undefined: what is only left out would stay as it is in the address.
  validateSearch: ({ to }: Record<string, unknown>): { to?: string | undefined } => ({
    to: typeof to === 'string' && ownPath.test(to) ? to : undefined,
  }),
});
const join = createRoute({ getParentRoute: () => root, path: '/join', component: JoinPage });

/** Pages for people who are signed in; others are sent to sign in, and back afterwards. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: AppFrame,
  async beforeLoad({ context, location }) {
    const me = await context.client.ensureQueryData(meQuery);
    if (!me) throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { to: location.href } });
  },
});

const page = (path: string, load: () => Promise<Record<string, unknown>>, name: string) =>
  createRoute({
    getParentRoute: () => inside,
    path,
    component: lazyRouteComponent(load as never, name as never),
  });

const pages = [
  page('/', () => import('./overview/overview-page.tsx'), 'OverviewPage'),
  page('/vaults', () => import('./vaults/vaults-page.tsx'), 'VaultsPage'),
  page('/vaults/$address', () => import('./vaults/vault-page.tsx'), 'VaultPage'),
  page('/files', () => import('./files/files-page.tsx'), 'FilesPage'),
  page('/files/$fileId', () => import('./files/file-page.tsx'), 'FilePage'),
  page('/records', () => import('./records/records-page.tsx'), 'RecordsPage'),
  page('/records/$recordId', () => import('./records/record-page.tsx'), 'RecordPage'),
  page('/assets', () => import('./assets/assets-page.tsx'), 'AssetsPage'),
  page('/assets/$assetId', () => import('./assets/asset-page.tsx'), 'AssetPage'),
  page('/workers', () => import('./workers/workers-page.tsx'), 'WorkersPage'),
  page('/workers/$address', () => import('./workers/worker-page.tsx'), 'WorkerPage'),
  page('/webhooks', () => import('./webhooks/webhooks-page.tsx'), 'WebhooksPage'),
  page('/webhooks/$endpointId', () => import('./webhooks/endpoint-page.tsx'), 'EndpointPage'),
  page('/webhooks/deliveries/$deliveryId', () => import('./webhooks/delivery-page.tsx'), 'DeliveryPage'),
  page('/events', () => import('./events/events-page.tsx'), 'EventsPage'),
  page('/keys', () => import('./keys/keys-page.tsx'), 'KeysPage'),
  page('/members', () => import('./members/members-page.tsx'), 'MembersPage'),
  page('/audit-log', () => import('./audit/audit-page.tsx'), 'AuditPage'),
  page('/settings', () => import('./settings/settings-page.tsx'), 'SettingsPage'),
];

export function createPages(client: QueryClient) {
  return createRouter({
    routeTree: root.addChildren([signIn, join, inside.addChildren(pages)]),
    context: { client },
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultPendingMs: 300,
    defaultPendingComponent: () => (
      <Center h="60vh">
        <Loader role="status" aria-label="Loading" />
      </Center>
    ),
    defaultErrorComponent: ({ error, reset }) => <FailureState error={error} again={reset} />,
    defaultNotFoundComponent: () => (
      <EmptyState
        icon="search"
        title="There is no such page"
        action={
          <Button component={Link} to="/" variant="default">
            Go to the overview
          </Button>
        }
      >
        The link may be old, or the thing may be in another workspace.
      </EmptyState>
    ),
  });
}
