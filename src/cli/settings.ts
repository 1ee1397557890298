/** The settings of a command: `.env` and the environment, validated, with a warning for each unknown name. */
import { type Config, loadEnvFile, readConfig } from '../config/config.ts';
import { settingNames } from '../config/settings.ts';
import { nearestName } from './nearest-name.ts';

const prefix = 'HOLDFAST_';
/** Names used by programs that call a service, such as the examples, and by the tests. */
const others = /^HOLDFAST_(URL|API_KEY|FUZZ_RUNS|TEST_\w+)$/;

/** Each warning is a sentence; without it a misspelt setting would be ignored silently. */
export function readSettings(warn: (sentence: string) => void): Config {
  loadEnvFile();
  for (const sentence of unknownSettings(Object.keys(process.env))) warn(sentence);
  return readConfig(process.env);
}

export function unknownSettings(given: string[]): string[] {
  // Compares without the prefix, which would make all names similar.
  const bare = new Map(settingNames.map((name) => [name.replace(prefix, ''), name]));
  return given
    .filter((name) => name.startsWith(prefix) && !settingNames.includes(name) && !others.test(name))
    .sort()
    .map((name) => {
      const nearest = nearestName(name.slice(prefix.length), [...bare.keys()]);
      const hint = nearest === null ? 'See .env.example.' : `Did you mean ${bare.get(nearest)}?`;
      return `There is no setting ${name.slice(0, 100)}, so it has no effect. ${hint}`;
    });
}
