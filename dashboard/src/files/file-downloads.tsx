/** Downloads of a version: its content, its proof, its certificate, all of it for others to check; and the history of the file. */
import { Button, Menu } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { saveHistory, savePath } from '../frame/download.tsx';
import { Icon } from '../frame/icons.tsx';
import { showDone } from '../frame/notice.ts';
import { type FileVersion, filesPath } from './file.ts';

/** From this size on, a download takes long enough for a notice that it has started. */
const longBytes = 20_000_000;

export function DownloadMenu({ file }: { file: FileVersion }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<Icon name="download" size={16} />}>
          Download
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <VersionDownloads file={file} />
        <DownloadItem
          label="Full history"
          path={`${filesPath}/${file.id}/history`}
          fileName={`history-${file.id}.json`}
          saveAs={(path, fileName) => saveHistory(path, fileName, { format: 'proof' })}
          missing={file.anchor === null && file.version === 1 ? unconfirmed : null}
        />
        <Menu.Item
          component="a"
          href="/verify"
          hiddenFrom="xs"
          leftSection={<Icon name="verify" size={16} />}
        >
          Verify a proof
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

const unconfirmed = 'available once confirmed';

/** Menu items. Unavailable ones are shown with the reason. */
export function VersionDownloads({ file }: { file: FileVersion }) {
  const { id, version, anchor, size, name, erased } = file;
  const path = `${filesPath}/${id}`;
  const missing = anchor === null ? unconfirmed : null;
  const missingContent = size === null ? 'only the hash is here' : erased ? 'erased' : null;
  return (
    <>
      <DownloadItem
        label="Content"
        path={`${path}/content?version=${version}`}
        fileName={name}
        missing={missingContent}
        {...((size ?? 0) > longBytes && { begun: `${name} is being downloaded.` })}
      />
      <DownloadItem
        label="Proof"
        path={`${path}/proof?version=${version}`}
        fileName={`proof-${id}-v${version}.json`}
        missing={missing}
      />
      <DownloadItem
        label="Certificate"
        path={`${path}/certificate?version=${version}`}
        fileName={`certificate-${id}-v${version}.pdf`}
        missing={missing}
      />
      <DownloadItem
        label="Evidence package"
        path={`${path}/evidence?version=${version}`}
        fileName={`evidence-${id}-v${version}.zip`}
        missing={missing}
        {...(missingContent === null &&
          (size ?? 0) > longBytes && { begun: `The evidence for ${name} is being downloaded.` })}
      />
    </>
  );
}

interface DownloadItemProps {
  label: string;
  path: string;
  fileName: string;
  /** Why it is unavailable. */
  missing: string | null;
  begun?: string;
  saveAs?: typeof savePath;
}

function DownloadItem({ label, path, fileName, missing, begun, saveAs = savePath }: DownloadItemProps) {
  const saving = useMutation({ mutationFn: () => saveAs(path, fileName) });
  return (
    <Menu.Item
      disabled={missing !== null}
      leftSection={<Icon name="download" size={16} />}
      onClick={() => {
        if (begun !== undefined) showDone(begun);
        saving.mutate();
      }}
    >
      {missing === null ? label : `${label} (${missing})`}
    </Menu.Item>
  );
}
