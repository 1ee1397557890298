/** Records and assets of an export: each version with its data and its proof. */
import type { Exporter, Thing } from './exporter.ts';

const versionKey = ({ id, version }: Thing) => `${id} ${version}`;
const idKey = ({ id }: Thing) => id;

/** `records.jsonl` has each record as it is now, so that it can be imported; older versions are beside it. */
export async function exportRecords(exporter: Exporter): Promise<void> {
  const records = await exporter.log('records', idKey);
  const older = await exporter.log('record-versions', versionKey);
  for await (const page of exporter.list('/platform/records', 'records')) {
    for (const { id, version: newest } of page) {
      if (records.has(id)) continue;
      let line: object | null = null;
      for (let version = 1; version <= newest; version += 1) {
        const path = `/platform/records/${id}`;
        const of = `${id} version ${version}`;
        await exporter.save(`${path}/proof?version=${version}`, `proofs/${id}.v${version}.json`, {
          ...{ id: of, what: 'proof' },
        });
        const record = (await exporter.read(`${path}?version=${version}`, {
          id: of,
          what: 'record',
        })) as Thing | null;
        if (record?.erased === true) await exporter.missing({ id: of, what: 'data' }, 'It was erased.');
        if (version === newest) line = record;
        else if (record && !older.has(versionKey(record))) await older.append(record);
      }
      if (line) await records.append(line);
      exporter.progress();
    }
  }
}

/** Entries before their asset: the line of the asset says that all of it is there. */
export async function exportAssets(exporter: Exporter): Promise<void> {
  const assets = await exporter.log('assets', idKey);
  const entries = await exporter.log('maintenances', idKey);
  for await (const page of exporter.list('/damc/assets/', 'assets')) {
    for (const asset of page) {
      const { id } = asset;
      if (assets.has(id)) continue;
      const path = `/damc/assets/${id}`;
      await exporter.save(`${path}/proof/`, `proofs/${id}.json`, { id, what: 'proof' });
      await exporter.save(`${path}/history/`, `histories/${id}.json`, { id, what: 'history' });
      for await (const some of exporter.list(`${path}/maintenances/`, `maintenances of ${id}`)) {
        for (const { maintenanceId, ...rest } of some as unknown as { maintenanceId: string }[]) {
          const own = String(maintenanceId ?? (rest as { id?: string }).id);
          if (entries.has(own)) continue;
          const entry = `${path}/maintenances/${own}`;
          await exporter.save(`${entry}/proof/`, `proofs/${own}.json`, { id: own, what: 'proof' });
          const details = (await exporter.read(`${entry}/details/`, {
            id: own,
            what: 'entry',
          })) as Thing | null;
          if (details) await entries.append({ ...details, id: own, assetId: id });
          exporter.progress();
        }
      }
      await assets.append(asset);
      exporter.progress();
    }
  }
}
