/** The frame of every page for signed-in users: navigation, workspace, and the user's own menu. */
import {
  ActionIcon,
  AppShell,
  Box,
  Burger,
  Group,
  Menu,
  NavLink,
  ScrollArea,
  Select,
  Text,
  Tooltip,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { type ComponentType, lazy, Suspense } from 'react';
import { callAuth } from '../api/call.ts';
import { useLiveUpdates } from '../api/live.ts';
import { useMayWrite, useMe } from '../api/session.ts';
import { chooseNextWorkspace, chooseWorkspace } from '../api/workspace.ts';
import { ImportShare } from '../imports/import-share.tsx';
import { navigation } from '../links.ts';
import { ConfirmAgain } from '../sign-in/confirm-again.tsx';
import { SignInAgain } from '../sign-in/sign-in-again.tsx';
import { Icon } from './icons.tsx';
import { OpenApprovals } from './open-approvals.tsx';

/** Few see it, so signing in does not wait for it. */
const SecondFactorNeeded = lazy(async () => ({
  default: (await import('../sign-in/second-factor-needed.tsx')).SecondFactorNeeded,
}));

export function AppFrame() {
  const [opened, { toggle, close }] = useDisclosure();
  const { lacksSecondFactor } = useMe();
  useLiveUpdates(lacksSecondFactor);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'md', md: 'xl' }}
    >
      <a href="#content" className="skip-link">
        Skip to the content
      </a>
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" />
            <UnstyledButton component={Link} to="/" aria-label="Holdfast, overview">
              <Group gap={8} wrap="nowrap">
                <img src="/favicon.svg" alt="" width={26} height={26} />
                <Text fw={700} visibleFrom="xs">
                  Holdfast
                </Text>
              </Group>
            </UnstyledButton>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <WorkspaceSwitch />
            <SchemeSwitch />
            <PersonMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Main" mod={{ shut: !opened }}>
        <AppShell.Section grow component={ScrollArea}>
          <Navigation close={close} />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <Box maw={1240} mx="auto">
          {lacksSecondFactor ? (
            <Suspense>
              <SecondFactorNeeded />
            </Suspense>
          ) : (
            <Outlet />
          )}
        </Box>
      </AppShell.Main>
      <ConfirmAgain />
      <SignInAgain />
    </AppShell>
  );
}

/** Beside an entry of the navigation. */
const marks: Record<string, ComponentType> = { '/approvals': OpenApprovals, '/import': ImportShare };

function Navigation({ close }: { close(): void }) {
  const { pathname } = useLocation();
  const mayWrite = useMayWrite();
  return navigation.map(({ heading, links }) => (
    <Box key={heading ?? 'top'} mb="sm">
      {heading !== null && (
        <Text size="xs" c="dimmed" fw={600} px="sm" mb={4} mt={4}>
          {heading}
        </Text>
      )}
      {links.map(({ to, label, icon, withoutViewers }) => {
        if (withoutViewers && !mayWrite) return null;
        const Mark = marks[to];
        const active = to === '/' ? pathname === '/' : pathname.startsWith(to);
        return (
          <NavLink
            key={to}
            component={Link}
            to={to}
            label={label}
            rightSection={Mark && <Mark />}
            leftSection={<Icon name={icon} />}
            active={active}
            {...(active && { 'aria-current': 'page' })}
            onClick={close}
            style={{ borderRadius: 'var(--mantine-radius-md)' }}
          />
        );
      })}
    </Box>
  ));
}

function WorkspaceSwitch() {
  const me = useMe();
  if (me.workspaces.length < 2) return null;
  return (
    <Select
      aria-label="Workspace"
      size="xs"
      w={{ base: 120, sm: 190 }}
      allowDeselect={false}
      data={me.workspaces.map(({ id, name }) => ({ value: id, label: name }))}
      value={me.workspaceId}
      onChange={(id) => {
        if (id !== null) chooseNextWorkspace(id);
        // Loads a new page, so that nothing of the other workspace stays on the screen, in memory, or in the event stream.
        window.location.assign('/');
      }}
    />
  );
}

function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const next = scheme === 'dark' ? 'light' : 'dark';
  const label = `Switch to ${next} colours`;
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" size="lg" aria-label={label} onClick={() => setColorScheme(next)}>
        <Icon name={scheme === 'dark' ? 'sun' : 'moon'} />
      </ActionIcon>
    </Tooltip>
  );
}

function PersonMenu() {
  const me = useMe();
  async function signOut() {
    await callAuth('sign-out');
    chooseWorkspace(null);
    // Loads a new page, so that no fetched data stays in memory.
    window.location.assign('/sign-in');
  }
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon variant="light" size="lg" radius="xl" aria-label={`Your account, ${me.name}`}>
          <Text size="sm" fw={600}>
            {me.name.slice(0, 1).toUpperCase()}
          </Text>
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {me.name}
          <br />
          {me.email} · {me.role}
        </Menu.Label>
        <Menu.Item component={Link} to="/settings" leftSection={<Icon name="settings" size={16} />}>
          Settings
        </Menu.Item>
        <Menu.Item component="a" href="/docs/" leftSection={<Icon name="file" size={16} />}>
          Documentation
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={signOut}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
