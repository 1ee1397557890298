/** Installs an asset in another one, or removes it. */
import { Autocomplete, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { useList } from '../api/lists.ts';
import { FormDialog } from '../frame/form.tsx';
import { justNow, MomentInput } from '../frame/moment-input.tsx';
import { showDone } from '../frame/notice.ts';
import { useSaving } from '../frame/saving.ts';
import { type Asset, assetsPath, assetUrl, type Installation } from './asset.ts';

export interface InstallFormProps {
  /** The given asset; the form asks for the other one. */
  what: { install: string } | { into: string } | { remove: string; from: string };
  close(): void;
}

export function InstallForm({ what, close }: InstallFormProps) {
  const [other, setOther] = useState('');
  const [at, setAt] = useState(justNow);
  const removing = 'remove' in what;
  const saving = useSaving({
    nouns: ['assets'],
    send(headers) {
      const [part, parent, verb] = removing
        ? [what.remove, what.from, 'remove/']
        : 'install' in what
          ? [what.install, other.trim(), 'install/']
          : [other.trim(), what.into, 'install/'];
      const body = { parentAssetId: parent, at };
      return call<Installation>('POST', assetUrl(part, verb), { body, headers });
    },
    onDone({ assetId, parentAssetId }) {
      showDone(`${assetId} was ${removing ? 'removed from' : 'installed in'} ${parentAssetId}.`);
      close();
    },
  });
  return (
    <FormDialog
      opened
      close={close}
      title={removing ? 'Remove a part' : 'into' in what ? 'Install a part' : 'Install in another asset'}
      submitLabel={removing ? 'Remove' : 'Install'}
      saving={saving}
    >
      {removing ? (
        <Text size="sm">
          {what.remove} will be removed from {what.from}. Both stay with their owners.
        </Text>
      ) : (
        <AssetChoice
          label={'into' in what ? 'Part' : 'Installed in'}
          value={other}
          choose={setOther}
          without={'into' in what ? what.into : what.install}
        />
      )}
      <MomentInput
        label={removing ? 'Removed at' : 'Installed at'}
        description="When it happened."
        required
        past
        value={at}
        change={setAt}
      />
    </FormDialog>
  );
}

interface AssetChoiceProps {
  label: string;
  value: string;
  choose(assetId: string): void;
  without: string;
}

/** By id, which may be typed; suggests the newest thousand. */
function AssetChoice({ label, value, choose, without }: AssetChoiceProps) {
  const { items = [] } = useList<Asset>({ noun: 'assets', path: assetsPath, limit: 1000 });
  const names = new Map(items.map(({ assetId, name }) => [assetId, name]));
  return (
    <Autocomplete
      label={label}
      description="The id of an asset."
      required
      data-autofocus
      limit={50}
      data={items.map(({ assetId }) => assetId).filter((assetId) => assetId !== without)}
      filter={({ options, search, limit }) => {
        const wanted = search.trim().toLowerCase();
        return options
          .filter(
            (option) =>
              'value' in option &&
              `${option.value} ${names.get(option.value)}`.toLowerCase().includes(wanted),
          )
          .slice(0, limit);
      }}
      renderOption={({ option }) => (
        <div>
          <Text size="sm">{names.get(option.value)}</Text>
          <Text size="xs" c="dimmed" className="mono">
            {option.value}
          </Text>
        </div>
      )}
      value={value}
      onChange={choose}
    />
  );
}
