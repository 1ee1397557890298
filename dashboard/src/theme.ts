/** The look of the dashboard: one accent colour, quiet surfaces, system fonts. */
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

const sea: MantineColorsTuple = [
  '#e6f7f6',
  '#d0ece9',
  '#a3d9d4',
  '#73c5be',
  '#4cb4ab',
  '#33aaa0',
  '#20a59a',
  '#0d9085',
  '#0b7a75',
  '#05605b',
];

export const theme = createTheme({
  colors: { sea },
  primaryColor: 'sea',
  primaryShade: 8,
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: '650' },
  cursorType: 'pointer',
  components: {
    Table: { defaultProps: { verticalSpacing: 'sm', highlightOnHover: true } },
    Button: { defaultProps: { radius: 'md' } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 300 } },
  },
});

/** Dimmed text and badges keep a contrast of 4.5 to 1 against their background. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5b636b',
    '--mantine-color-placeholder': '#6b737b',
    '--mantine-color-green-light-color': '#23702f',
    '--mantine-color-yellow-light-color': '#8a4b00',
  },
  dark: {
    '--mantine-color-dimmed': '#a9adb2',
    '--mantine-color-placeholder': '#989ca1',
    // Otherwise nearly white: buttons and destructive actions would look like everything else.
    '--mantine-color-sea-light-color': 'var(--mantine-color-sea-2)',
    '--mantine-color-red-light-color': '#ffa8a8',
    // Otherwise darker than the page: a quiet badge would look like a hole in it.
    '--mantine-color-gray-light': '#3b3b3b',
    '--mantine-color-gray-light-hover': '#454545',
    '--mantine-color-gray-light-color': '#dcdcdc',
  },
});
