/** The user's own settings, and those of the workspace. */
import { Stack, Tabs, Title } from '@mantine/core';
import { useMe } from '../api/session.ts';
import { WorkRules } from '../assets/work-rules.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { useTab } from '../frame/tab.ts';
import { PasswordForm, ProfileForm } from './account-forms.tsx';
import { ApprovalRules } from './approval-rules.tsx';
import { NoticeMail } from './notice-mail.tsx';
import { OrganisationForm } from './organisation-form.tsx';
import { PasskeyList } from './passkey-list.tsx';
import { ProviderLink } from './provider-link.tsx';
import { SessionList } from './session-list.tsx';
import { TwoFactor } from './two-factor.tsx';
import { UsageList } from './usage-list.tsx';
import { WorkspaceSettings } from './workspace-settings.tsx';

export function SettingsPage() {
  const [tab, setTab] = useTab('account');
  const me = useMe();
  return (
    <>
      <PageHead title="Settings" />
      <Tabs value={tab} onChange={setTab} keepMounted={false}>
        <Tabs.List mb="lg">
          <Tabs.Tab value="account">Account</Tabs.Tab>
          <Tabs.Tab value="two-factor">Passkeys and codes</Tabs.Tab>
          <Tabs.Tab value="sessions">Sessions</Tabs.Tab>
          <Tabs.Tab value="workspace">Workspaces</Tabs.Tab>
          <Tabs.Tab value="approvals">Approvals</Tabs.Tab>
          <Tabs.Tab value="maintenance">Maintenance</Tabs.Tab>
          <Tabs.Tab value="usage">Usage</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="account">
          <Stack gap="xl" maw={460}>
            <ProfileForm />
            {me.provedBy.includes('password') && <PasswordForm />}
            <ProviderLink />
            <NoticeMail />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="two-factor">
          <PasskeyList />
          {me.provedBy.includes('password') && <TwoFactor />}
        </Tabs.Panel>
        <Tabs.Panel value="sessions">
          <SessionList />
        </Tabs.Panel>
        <Tabs.Panel value="workspace">
          <WorkspaceSettings />
        </Tabs.Panel>
        <Tabs.Panel value="approvals">
          <ApprovalRules />
        </Tabs.Panel>
        <Tabs.Panel value="maintenance">
          <Stack gap="xl" maw={640}>
            <OrganisationForm />
            <section>
              <Title order={2} size="h4" mb="xs">
                Rules for types of work
              </Title>
              <WorkRules assetId={null} />
            </section>
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="usage">
          <UsageList />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
