/**
 * Signs an entry off: in one step with a key that the service holds, in two steps with the worker's own key, or by a link that
 * the worker opens on the device with their passkey.
 */

import { Alert, Select, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/call.ts';
import type { Schemas } from '../api/schemas.ts';
import { FormDialog } from '../frame/form.tsx';
import { Icon } from '../frame/icons.tsx';
import { LinkOnce } from '../frame/link-once.tsx';
import { showDone } from '../frame/notice.ts';
import { useSaving } from '../frame/saving.ts';
import { TypedDataStep } from '../frame/typed-data-step.tsx';
import { Time } from '../frame/values.tsx';
import { isValid, type Licence, workerQuery } from '../workers/worker.ts';
import type { Asset } from './asset.ts';
import { entryUrl, type Maintenance, type Signoff, type SignoffRole, signoffRoles } from './maintenance.ts';
import { linksNoun } from './sign-links.tsx';
import { WorkerChoice } from './worker-choice.tsx';

type SigningRequest = Schemas['SignoffRequest'];

export interface SignoffFormProps {
  asset: Asset;
  entry: Maintenance;
  close(): void;
}

export function SignoffForm({ asset, entry, close }: SignoffFormProps) {
  const [workerAddress, setWorker] = useState<string | null>(null);
  const [role, setRole] = useState<SignoffRole>(() => nextRole(entry));
  const [licenceScope, setLicenceScope] = useState<string | null>(null);
  const [request, setRequest] = useState<SigningRequest | null>(null);
  const [signature, setSignature] = useState('');
  const { data: worker } = useQuery({
    ...workerQuery(workerAddress ?? ''),
    enabled: workerAddress !== null,
  });
  const ownKey = worker?.keyHolder === 'worker';
  const byLink = worker?.keyHolder === 'passkey';
  const [made, setMade] = useState<Schemas['SignRequest'] | null>(null);
  const url = entryUrl(asset.assetId, entry.maintenanceId, 'signoffs/');
  const saving = useSaving<Signoff | null>({
    nouns: ['assets', linksNoun],
    async send(headers) {
      if (!worker) throw new Error('Choose the worker who signs.');
      const given = {
        workerAddress: worker.address,
        role,
        ...(licenceScope !== null && { licenceScope }),
      };
      if (byLink) {
        setMade(await call<Schemas['SignRequest']>('POST', `${url}requests/`, { body: given }));
        return null;
      }
      if (ownKey && !request) {
        setRequest(await call<SigningRequest>('GET', `${url}request/`, { query: given }));
        return null;
      }
      const body = {
        ...given,
        ...(request && { signature: signature.trim(), signedAt: request.signedAt }),
      };
      return call<Signoff>('POST', url, { body, headers });
    },
    onDone(signoff) {
      if (signoff === null) return;
      showDone(`${signoff.workerName} has signed as ${signoff.role}.`);
      close();
    },
  });
  // A prepared request is valid only for the choices it was made from.
  const anew =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      set(value);
      setRequest(null);
      setSignature('');
    };
  if (made && worker) {
    return (
      <LinkOnce
        title={`For ${worker.name} to sign`}
        label="The link to sign"
        link={made.link}
        about={`For ${worker.name}: to scan with the phone that has their passkey, or to open on it. It signs once as ${role}, is valid for seven days, and cannot be shown again.`}
        close={close}
      />
    );
  }
  return (
    <FormDialog
      opened
      close={close}
      title="Sign off"
      submitLabel={
        byLink ? 'Create link' : ownKey ? (request ? 'Submit signature' : 'Prepare request') : 'Sign off'
      }
      saving={saving}
      size="lg"
    >
      <Text size="sm" c="dimmed" lineClamp={2}>
        {entry.summary}
      </Text>
      <WorkerChoice
        assetId={asset.assetId}
        value={workerAddress}
        choose={(address) => {
          anew(setWorker)(address);
          setLicenceScope(null);
        }}
      />
      <Select
        label="Role"
        description={roleHint[role]}
        required
        allowDeselect={false}
        data={rolesLeft(entry)}
        value={role}
        onChange={(value) => anew(setRole)(value as SignoffRole)}
      />
      {worker && (
        <LicenceChoice
          licences={worker.licences}
          role={role}
          value={licenceScope}
          choose={anew(setLicenceScope)}
        />
      )}
      {ownKey && !request && (
        <Alert color="blue" icon={<Icon name="key" />} py="xs">
          {worker.name} holds their own key. Prepare the request, sign it in the worker’s wallet, then paste
          the signature here.
        </Alert>
      )}
      {byLink && (
        <Alert color="blue" icon={<Icon name="key" />} py="xs">
          {worker.name} signs with a passkey, on their own device. You get a link and a QR code for them.
        </Alert>
      )}
      {request && (
        <TypedDataStep request={request} signature={signature} change={setSignature}>
          The signature is accepted until <Time at={request.expiresAt} exact />.
        </TypedDataStep>
      )}
    </FormDialog>
  );
}

interface LicenceChoiceProps {
  licences: Licence[];
  role: SignoffRole;
  value: string | null;
  choose(scope: string | null): void;
}

function LicenceChoice({ licences, role, value, choose }: LicenceChoiceProps) {
  if (licences.length === 0) {
    if (role === 'performed') return null;
    return (
      <Alert color="yellow" icon={<Icon name="warning" />} py="xs">
        This worker has no licence, and {role === 'inspected' ? 'inspecting' : 'certifying'} needs one.
      </Alert>
    );
  }
  const scopes = [...new Set(licences.map(({ scope }) => scope))];
  return (
    <Select
      label="Licence"
      placeholder={role === 'performed' ? 'none needed' : 'the first that fits the work'}
      clearable
      data={scopes.map((scope) => {
        const same = licences.filter((licence) => licence.scope === scope);
        const valid = same.find((licence) => isValid(licence));
        const { number = '' } = valid ?? same[0] ?? {};
        return {
          value: scope,
          label: `${scope}, ${number}${valid ? '' : ', not valid'}`,
          disabled: valid === undefined,
        };
      })}
      value={value}
      onChange={choose}
    />
  );
}

const roleHint: Record<SignoffRole, string> = {
  performed: 'Confirms that this worker did the work.',
  inspected: 'By someone other than the person who did the work, with a licence.',
  certified: 'Releases the asset. By someone other than the person who did the work, with a licence.',
};

/** The highest role signed so far, and all above it: lower ones can no longer be added. */
function rolesLeft({ signoffs }: Maintenance): SignoffRole[] {
  if (signoffs.length === 0) return ['performed'];
  return signoffRoles.slice(highestOf(signoffs));
}

/** Certified may follow performed directly, but an inspection is the usual next step. */
function nextRole({ signoffs }: Maintenance): SignoffRole {
  if (signoffs.length === 0) return 'performed';
  return signoffRoles[highestOf(signoffs) + 1] ?? 'certified';
}

function highestOf(signoffs: Signoff[]): number {
  return Math.max(...signoffs.map(({ role }) => signoffRoles.indexOf(role)));
}
