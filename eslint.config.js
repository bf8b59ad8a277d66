import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

// Who may import whom (ARCHITECTURE.md, "Layers"); test/tidy walks the same rule over whole paths.
export default tseslint.config(
  {
    ignores: [
      'dist/**', 'client/package/dist/**', 'coverage/**', 'node_modules/**',
      // It is compiled by test/dashboard/react.test.ts.
      'examples/react-chart/**',
      'site/**', '.simulation-*/**', '.fuzz-*/**',
      'src/{estimators,estimators/contract,wire}/generated/**',
      'src/numerics/kernels/{assembly,generated}/**',
    ],
  },
  eslint.configs.recommended,
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: { project: './tsconfig.test.json', tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      'no-console': 'error',
      eqeqeq: 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error', { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/restrict-template-expressions': [
        'error', { allowNumber: true, allowBoolean: true },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: "CallExpression[callee.object.name='Math'][callee.property.name='random']",
          message: 'Take randomness from src/random: WorkRandom or NoiseSource.',
        },
      ],
    },
  },
  {
    // Time, environment and timers are injected everywhere but at the edges.
    files: ['src/**/*.ts', 'server/**/*.ts', 'client/**/*.ts', 'simulation/**/*.ts'],
    ignores: [
      'server/base/clock.ts', 'server/base/process-figures.ts', 'client/base/clock.ts',
    ],
    rules: {
      'no-restricted-globals': ['error', 'setTimeout', 'setInterval', 'setImmediate', 'process'],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'Use the injected clock.' },
        { object: 'performance', property: 'now', message: 'Use the injected clock.' },
        { object: 'process', property: 'env', message: 'Only cli/ reads the environment.' },
      ],
    },
  },
  {
    files: ['**/*.js', '**/*.cjs'],
    ...tseslint.configs.disableTypeChecked,
    languageOptions: {
      parserOptions: { project: false, projectService: false, program: null },
      globals: {
        console: 'readonly', process: 'readonly', URL: 'readonly', Buffer: 'readonly',
        setTimeout: 'readonly', setInterval: 'readonly', clearInterval: 'readonly',
        performance: 'readonly',
      },
    },
    rules: { ...tseslint.configs.disableTypeChecked.rules, 'no-console': 'off' },
  },
  {
    // The form of a file, which `npm run lint -- --fix` gives it. How lines are broken and indented
    // is left to people: it follows the sense.
    files: ['**/*.{js,cjs,ts}'],
    rules: {
      'array-bracket-spacing': 'error',
      'arrow-parens': 'error',
      'arrow-spacing': 'error',
      'block-spacing': 'error',
      'comma-dangle': ['error', 'always-multiline'],
      'comma-spacing': 'error',
      'comma-style': 'error',
      'computed-property-spacing': 'error',
      'dot-location': ['error', 'property'],
      'eol-last': 'error',
      'key-spacing': 'error',
      'keyword-spacing': 'error',
      'linebreak-style': 'error',
      'new-parens': 'error',
      'no-extra-semi': 'error',
      'no-multi-spaces': ['error', { ignoreEOLComments: true }],
      'no-multiple-empty-lines': ['error', { max: 1, maxBOF: 0, maxEOF: 0 }],
      'no-trailing-spaces': 'error',
      'no-whitespace-before-property': 'error',
      'object-curly-spacing': ['error', 'always'],
      'object-shorthand': 'error',
      'padded-blocks': ['error', 'never'],
      quotes: ['error', 'single', { avoidEscape: true, allowTemplateLiterals: true }],
      'rest-spread-spacing': 'error',
      semi: 'error',
      'semi-style': 'error',
      'space-before-blocks': 'error',
      'space-before-function-paren': [
        'error', { anonymous: 'always', named: 'never', asyncArrow: 'always' },
      ],
      'space-in-parens': 'error',
      'space-infix-ops': 'error',
      'space-unary-ops': 'error',
      'spaced-comment': ['error', 'always', { markers: ['/'], exceptions: ['-'] }],
      'switch-colon-spacing': 'error',
      'template-curly-spacing': 'error',
    },
  },
  {
    // Long texts in templates (SQL, HTML, help) keep their own lines.
    files: ['**/*.{js,ts}'],
    rules: {
      'max-len': ['error', {
        code: 100, ignoreUrls: true, ignoreRegExpLiterals: true, ignoreTemplateLiterals: true,
        ignorePattern: '// eslint-disable',
      }],
    },
  },
  {
    files: ['examples/*/survey.js'],
    languageOptions: { globals: { document: 'readonly', fetch: 'readonly', FormData: 'readonly' } },
  },
);
