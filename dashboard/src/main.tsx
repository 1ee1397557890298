/** Starts the dashboard. */
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { MutationCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/call.ts';
import { showFailure } from './frame/notice.ts';
import { createPages } from './pages.tsx';
import { cssVariables, theme } from './theme.ts';

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // What the service refused, it would refuse again; only a service that does not respond is asked again.
      retry: (failures, error) => failures < 2 && error instanceof ApiError && error.status === 0,
    },
  },
  // Forms show their own errors; all others are shown here.
  mutationCache: new MutationCache({
    onError: (error, _input, _context, mutation) => {
      // Without a session, a dialog over the page says so.
      if (error instanceof ApiError && error.code === 'unauthorized') return;
      if (mutation.options.meta?.shown !== true) showFailure(error);
    },
  }),
});
const root = document.getElementById('root');
if (!root) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
      <Notifications position="top-right" />
      <QueryClientProvider client={client}>
        <RouterProvider router={createPages(client)} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
