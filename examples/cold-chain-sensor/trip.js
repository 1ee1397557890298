/** A trip on disk: the readings as they were measured, and how far the service has them. Survives a crash at any point. */
import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** Batches are cut where they always will be, so that a batch that is sent again is the same. */
const perBatch = 20;

/** The trip that was under way when the sensor was switched off, or a new one. */
export function openTrip(folder) {
  mkdirSync(folder, { recursive: true });
  const [stateFile, readingsFile] = ['trip.json', 'readings.jsonl'].map((name) => join(folder, name));
  const state = existsSync(stateFile)
    ? JSON.parse(readFileSync(stateFile, 'utf8'))
    : { id: randomUUID(), vaultAddress: null, recordIds: [] };
  const readings = existsSync(readingsFile) ? readLines(readingsFile) : [];

  function save() {
    writeFileSync(`${stateFile}.new`, JSON.stringify(state));
    renameSync(`${stateFile}.new`, stateFile);
  }

  save();
  return {
    id: state.id,
    readings,
    vaultAddress: () => state.vaultAddress,
    /** By the number of their reading. */
    recordIds: () => state.recordIds,
    add(reading) {
      appendFileSync(readingsFile, `${JSON.stringify(reading)}\n`);
      readings.push(reading);
    },
    useVault(address) {
      state.vaultAddress = address;
      save();
    },
    /** The oldest readings that the service lacks: a full batch, or at the end of the trip what is left. Null: none. */
    nextBatch({ isOver }) {
      const batch = readings.slice(state.recordIds.length, state.recordIds.length + perBatch);
      return batch.length === perBatch || (isOver && batch.length > 0) ? batch : null;
    },
    markSent(ids) {
      state.recordIds.push(...ids);
      save();
    },
    end() {
      rmSync(stateFile);
      rmSync(readingsFile);
    },
  };
}

/** The last line is left out if a crash cut it off; that reading is lost, and the next one takes its number. */
function readLines(file) {
  const whole = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  writeFileSync(file, whole.map((line) => `${line}\n`).join(''));
  return whole.map((line) => JSON.parse(line));
}
