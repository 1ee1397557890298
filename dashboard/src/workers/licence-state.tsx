/** Whether a licence is valid: until when, expiring soon, or expired. */
import { Badge, Group, Text } from '@mantine/core';
import { Time } from '../frame/values.tsx';
import { expiresSoon, isExpired, isValid, type Licence } from './worker.ts';

export function LicenceState({ licence }: { licence: Licence }) {
  if (!isValid(licence) && !isExpired(licence)) {
    const isSuspended = licence.suspendedAt !== null && Date.parse(licence.suspendedAt) <= Date.now();
    return <Mark color="red" text={isSuspended ? 'suspended' : 'not valid yet'} />;
  }
  if (licence.expiresAt === null)
    return (
      <Text span c="dimmed" size="sm">
        does not expire
      </Text>
    );
  return (
    <Group gap={6} component="span">
      <Time at={licence.expiresAt} />
      {isExpired(licence) && <Mark color="red" text="expired" />}
      {expiresSoon(licence) && <Mark color="yellow" text="expires soon" />}
    </Group>
  );
}

/** What a worker may do, in short; expired licences are marked. */
export function LicenceScopes({ licences }: { licences: Licence[] }) {
  if (licences.length === 0)
    return (
      <Text span c="dimmed" size="sm">
        none
      </Text>
    );
  const shown = licences.slice(0, 3);
  return (
    <Group gap={4}>
      {shown.map((licence) => (
        <Mark
          key={`${licence.scope} ${licence.number}`}
          color={isExpired(licence) ? 'red' : expiresSoon(licence) ? 'yellow' : 'gray'}
          text={isExpired(licence) ? `${licence.scope}, expired` : licence.scope}
        />
      ))}
      {licences.length > shown.length && (
        <Text span c="dimmed" size="xs">
          and {licences.length - shown.length} more
        </Text>
      )}
    </Group>
  );
}

function Mark({ color, text }: { color: string; text: string }) {
  return (
    <Badge variant="light" color={color} radius="sm" tt="none" maw={220}>
      {text}
    </Badge>
  );
}
