/** The settings of a command: `.env` and the environment, checked, with a warning for each name that means nothing. */
import { type Config, loadEnvFile, readConfig } from '../config/config.ts';
import { settingNames } from '../config/settings.ts';
import { nearestName } from './nearest-name.ts';

const prefix = 'HOLDFAST_';
/** Of programs that talk to a service, as the examples do, and of the tests. */
const others = /^HOLDFAST_(URL|API_KEY|FUZZ_RUNS|TEST_\w+)$/;

/** Each warning is a sentence; what is misspelt would otherwise be left out in silence. */
export function readSettings(warn: (sentence: string) => void): Config {
  loadEnvFile();
  for (const sentence of unknownSettings(Object.keys(process.env))) warn(sentence);
  return readConfig(process.env);
}

export function unknownSettings(given: string[]): string[] {
  // The prefix is left out: it would make all names near to each other.
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
