/** In place of every page, while the workspace requires a second factor that this session has not used. */
import { Alert, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useMe } from '../api/session.ts';
import { Icon } from '../frame/icons.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { PasskeyList } from '../settings/passkey-list.tsx';
import { ProviderLink } from '../settings/provider-link.tsx';
import { TwoFactor } from '../settings/two-factor.tsx';
import { PasskeyButton } from './passkey-button.tsx';
import { CodeStep } from './sign-in-steps.tsx';

export function SecondFactorNeeded() {
  const me = useMe();
  const client = useQueryClient();
  const goOn = () => client.invalidateQueries();
  return (
    <>
      <PageHead title="Second factor required" />
      <Stack gap="md" maw={560}>
        <Alert color="yellow" icon={<Icon name="warning" />}>
          This workspace accepts only sessions with a second factor. Use a passkey or a code, or set one up
          here.
        </Alert>
        {me.provedBy.includes('passkey') && <PasskeyButton label="Continue with a passkey" done={goOn} />}
        {me.twoFactor ? (
          <CodeStep enter={goOn} about={(words) => <Text size="sm">{words}</Text>} />
        ) : (
          <>
            <PasskeyList />
            <TwoFactor />
            <ProviderLink />
          </>
        )}
      </Stack>
    </>
  );
}
