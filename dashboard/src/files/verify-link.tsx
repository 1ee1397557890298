/** A link to the public page that checks proofs, which is not part of the dashboard. */
import { Button } from '@mantine/core';
import { Icon } from '../frame/icons.tsx';

/** `wide`: hidden on narrow screens. */
export function VerifyLink({ wide = false }: { wide?: boolean }) {
  return (
    <Button
      component="a"
      href="/verify"
      variant="default"
      leftSection={<Icon name="verify" size={16} />}
      {...(wide && { visibleFrom: 'xs' })}
    >
      Verify
    </Button>
  );
}
