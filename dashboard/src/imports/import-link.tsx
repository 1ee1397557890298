/** Leads from a list to the import of many such things. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Icon } from '../frame/icons.tsx';

export function ImportLink({ kind }: { kind: 'records' | 'files' }) {
  return (
    <Button
      variant="default"
      component={Link}
      to="/import"
      search={{ kind } as never}
      leftSection={<Icon name="upload" size={16} />}
    >
      Import
    </Button>
  );
}
