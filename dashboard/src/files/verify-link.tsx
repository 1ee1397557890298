/** Leads to the public page that checks proofs, which is no part of the dashboard. */
import { Button } from '@mantine/core';
import { Icon } from '../frame/icons.tsx';

export function VerifyLink() {
  return (
    <Button component="a" href="/verify" variant="default" leftSection={<Icon name="verify" size={16} />}>
      Verify
    </Button>
  );
}
