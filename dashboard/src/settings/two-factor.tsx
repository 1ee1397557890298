/** Turns two-factor authentication with an authenticator app on and off. */
import {
  Alert,
  Button,
  Code,
  Group,
  PasswordInput,
  PinInput,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callAuth } from '../api/call.ts';
import { useMe } from '../api/session.ts';
import { FormFailure } from '../frame/form.tsx';
import { Icon } from '../frame/icons.tsx';
import { showDone } from '../frame/notice.ts';
import { Copy, Code as CopyCode } from '../frame/values.tsx';

interface Enabled {
  totpURI: string;
  backupCodes: string[];
}

export function TwoFactor() {
  const me = useMe();
  const [enabled, setEnabled] = useState<Enabled | null>(null);
  if (enabled) return <Confirming enabled={enabled} done={() => setEnabled(null)} />;
  return (
    <Stack gap="sm" maw={460}>
      <Alert color={me.twoFactor ? 'green' : 'yellow'} icon={<Icon name="verify" />}>
        {me.twoFactor
          ? 'Two-factor codes are on: signing in requires a code from your authenticator app.'
          : 'Two-factor codes are off. With them, a stolen password alone is not enough to sign in.'}
      </Alert>
      <Turning on={!me.twoFactor} onEnabled={setEnabled} />
    </Stack>
  );
}

function Turning({ on, onEnabled }: { on: boolean; onEnabled(enabled: Enabled): void }) {
  const client = useQueryClient();
  const [password, setPassword] = useState('');
  const turning = useMutation({
    meta: { shown: true },
    mutationFn: () => callAuth<Enabled>(`two-factor/${on ? 'enable' : 'disable'}`, { password }),
    async onSuccess(answer) {
      setPassword('');
      if (on) return onEnabled(answer);
      await client.invalidateQueries({ queryKey: ['me'] });
      showDone('Two-factor codes are off.');
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        turning.mutate();
      }}
    >
      <Stack gap="sm" align="flex-start">
        <PasswordInput
          label="Your password"
          autoComplete="current-password"
          required
          w="100%"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <FormFailure error={turning.error} />
        <Button type="submit" loading={turning.isPending} {...(!on && { color: 'red', variant: 'light' })}>
          {on ? 'Turn on' : 'Turn off'}
        </Button>
      </Stack>
    </form>
  );
}

function Confirming({ enabled, done }: { enabled: Enabled; done(): void }) {
  const client = useQueryClient();
  const { data: picture } = useQuery({
    queryKey: ['totp', enabled.totpURI],
    queryFn: async () => (await import('qrcode')).toDataURL(enabled.totpURI, { margin: 1, width: 220 }),
  });
  const confirming = useMutation({
    meta: { shown: true },
    mutationFn: (code: string) => callAuth('two-factor/verify-totp', { code }),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: ['me'] });
      showDone('Two-factor codes are on.');
      done();
    },
  });
  const secret = new URL(enabled.totpURI).searchParams.get('secret') ?? '';
  return (
    <Stack gap="md" maw={560}>
      <Text size="sm">
        Scan this with an authenticator app, or type the secret into it. Keep the backup codes in a safe
        place: each signs you in once if you lose the app. They are not shown again.
      </Text>
      <Group align="flex-start" gap="lg">
        {picture === undefined ? (
          <Skeleton w={220} h={220} />
        ) : (
          <img
            src={picture}
            alt="QR code of the secret"
            width={220}
            height={220}
            style={{ background: '#fff' }}
          />
        )}
        <Stack gap="xs" flex="1 1 200px">
          <CopyCode value={secret} label="secret" whole />
          <SimpleGrid cols={2} spacing={6} verticalSpacing={6} aria-label="Backup codes">
            {enabled.backupCodes.map((code) => (
              <Code key={code}>{code}</Code>
            ))}
          </SimpleGrid>
          <Group gap={4}>
            <Text size="sm">All ten codes</Text>
            <Copy value={enabled.backupCodes.join('\n')} label="Copy backup codes" />
          </Group>
        </Stack>
      </Group>
      <Text size="sm">Then enter the code that the app shows:</Text>
      <PinInput
        length={6}
        type="number"
        oneTimeCode
        aria-label="Code"
        onComplete={(code) => confirming.mutate(code)}
      />
      <FormFailure error={confirming.error} />
    </Stack>
  );
}
