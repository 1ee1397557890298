/** Says that the chosen file or folder was imported before, and what that means. */
import { Alert, Button, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Icon } from '../frame/icons.tsx';
import { Time } from '../frame/values.tsx';
import { forgetImport, type KeptImport } from './journal.ts';

export function KnownAlready({ kept, forgotten }: { kept: KeptImport; forgotten(): void }) {
  const client = useQueryClient();
  const isFolder = kept.input === null;
  const forgetting = useMutation({
    async mutationFn() {
      await forgetImport(kept.id);
      await client.invalidateQueries({ queryKey: ['imports'] });
    },
    onSuccess: forgotten,
  });
  return (
    <Alert color="sea" icon={<Icon name="again" />} py="xs">
      <Text size="sm" className="breaks">
        {isFolder ? `The folder ${kept.name}` : `A file ${kept.name} of this size`} was{' '}
        {kept.complete ? 'imported' : 'partly imported'} from this browser{' '}
        <Time at={new Date(kept.begunAt).toISOString()} />: {kept.rows.toLocaleString('en')}{' '}
        {isFolder ? 'files' : 'rows'}.{' '}
        {isFolder
          ? 'What was sent is not sent again, and files that have changed since are refused.'
          : 'Its vault and options are filled in. If it is the same file, the import goes on where it was, and makes nothing twice.'}
      </Text>
      {isFolder && (
        <Button
          size="compact-sm"
          variant="default"
          mt="xs"
          loading={forgetting.isPending}
          onClick={() => forgetting.mutate()}
        >
          It is another folder with the same name
        </Button>
      )}
    </Alert>
  );
}
