/** All records of the workspace. */
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMayWrite } from '../api/session.ts';
import { Icon } from '../frame/icons.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { ImportLink } from '../imports/import-link.tsx';
import { RecordForm } from './record-form.tsx';
import { RecordList } from './record-list.tsx';

export function RecordsPage() {
  const mayWrite = useMayWrite();
  const [opened, { open, close }] = useDisclosure();
  const create = mayWrite && (
    <Button onClick={open} leftSection={<Icon name="plus" size={16} />}>
      New record
    </Button>
  );
  return (
    <>
      <PageHead
        title="Records"
        about="JSON data whose hash is anchored, version by version."
        actions={
          mayWrite && (
            <>
              <ImportLink kind="records" />
              {create}
            </>
          )
        }
      />
      <RecordList create={create} />
      {opened && <RecordForm close={close} />}
    </>
  );
}
