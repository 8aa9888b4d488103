/** Finds keys of known vendors by the form that they give them, and signed tokens (JWT). */
import { expressionDetector } from "./detector.ts";

/** Not after `-` where that could begin many keys in one text, each of which would be read to its end. */
const forms = [
  // OpenAI, Anthropic, OpenRouter, DeepSeek, and Sounding itself.
  String.raw`(?<!-)sk-(?=[A-Za-z_-]{0,64}\d)[\w-]{16,}`,
  // Stripe.
  String.raw`[sr]k_(?:live|test)_[A-Za-z\d]{16,}`,
  // AWS.
  String.raw`(?:AKIA|ASIA)[A-Z\d]{16}(?![A-Za-z\d])`,
  // GitHub, GitLab.
  String.raw`gh[pousr]_[A-Za-z\d]{30,}`,
  String.raw`github_pat_\w{22,}`,
  String.raw`glpat-[\w-]{20,}`,
  // Slack.
  String.raw`xox[a-z]-[A-Za-z\d-]{10,}`,
  // Google.
  String.raw`AIza[\w-]{35}`,
  // Hugging Face, npm.
  String.raw`hf_[A-Za-z\d]{30,}`,
  String.raw`npm_[A-Za-z\d]{36}`,
  // JWT: header and payload are JSON objects.
  String.raw`(?<!-)eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?`,
];

export const apiKeyDetector = expressionDetector(new RegExp(`(?<![A-Za-z\\d])(?:${forms.join("|")})`, "g"), 1024);
