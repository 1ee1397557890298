/** The routes of all pages, made from their table. */
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
import type { ComponentType } from 'react';
import { pageTable } from '../../src/http/pages/dashboard-table.ts';
import { meQuery, useMayWrite } from './api/session.ts';
import { AppFrame } from './frame/app-frame.tsx';
import { PageHead } from './frame/page-head.tsx';
import { EmptyState, FailureState } from './frame/states.tsx';
import { JoinPage } from './sign-in/join.tsx';
import { SignInPage } from './sign-in/sign-in.tsx';

type Page = (typeof pageTable)[number];

interface PageContext {
  client: QueryClient;
}

const root = createRootRouteWithContext<PageContext>()();

/** Paths on this site only: browsers read a backslash as a slash, and ignore tabs and line breaks. */
const ownPath = /^\/(?![/\\])[^\\\s]*$/;

interface SignInSearch {
  to?: string | undefined;
  problem?: string | undefined;
  confirmed?: boolean | undefined;
}

/** Explicitly undefined: a missing member would leave the URL unchanged. */
const signInSearch = ({ to, problem, confirmed }: Record<string, unknown>): SignInSearch => ({
  to: typeof to === 'string' && ownPath.test(to) ? to : undefined,
  problem: typeof problem === 'string' ? problem : undefined,
  confirmed: confirmed === true || undefined,
});

/** Part of the first script, so that signing in does not wait for another one. */
const atOnce = { '/sign-in': SignInPage, '/join': JoinPage };

/** Pages for signed-in users; others are redirected to sign in, and back afterwards. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: AppFrame,
  async beforeLoad({ context, location }) {
    const me = await context.client.ensureQueryData(meQuery);
    if (!me) throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { to: location.href } });
  },
});

const outsidePages = pageTable
  .filter(({ who }) => who === 'anybody')
  .map((page) =>
    createRoute({
      getParentRoute: () => root,
      path: page.path,
      component: componentOf(page),
      ...(page.path === '/sign-in' && { validateSearch: signInSearch }),
    }),
  );

const insidePages = pageTable
  .filter(({ who }) => who !== 'anybody')
  .map((page) =>
    createRoute({ getParentRoute: () => inside, path: page.path, component: componentOf(page) }),
  );

function componentOf(page: Page) {
  if (!('file' in page)) return atOnce[page.path];
  return lazyRouteComponent(async () => {
    // esbuild makes a script of each file that this path can match.
    const [Component] = Object.values<ComponentType>(await import(`./${page.file}-page.tsx`));
    if (!Component) throw new Error(`${page.file} exports nothing`);
    return { default: page.who === 'developers' ? forDevelopers(page, Component) : Component };
  });
}

/** Tells viewers why they see nothing. */
function forDevelopers(page: Page, Component: ComponentType) {
  return function ForDevelopers() {
    if (useMayWrite()) return <Component />;
    return (
      <>
        <PageHead title={page.label} />
        <EmptyState
          icon={'navigation' in page ? page.navigation.icon : 'eye'}
          title={`${page.label}: not shown to viewers`}
        >
          If you need this page, ask an admin for the role developer.
        </EmptyState>
      </>
    );
  };
}

export function createPages(client: QueryClient) {
  return createRouter({
    routeTree: root.addChildren([...outsidePages, inside.addChildren(insidePages)]),
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
        title="Page not found"
        action={
          <Button component={Link} to="/" variant="default">
            Go to the overview
          </Button>
        }
      >
        The link may be out of date, or the page may belong to another workspace.
      </EmptyState>
    ),
  });
}
