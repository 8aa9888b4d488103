/**
 * Which passwords are accepted: long ones that are not among the first that anybody tries. There are no rules for their characters.
 * https://pages.nist.gov/800-63-4/sp800-63b.html#passwordver
 */
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";

const shortest = 12;
const longest = inputLimit({
  area: "Administration",
  bounds: "A password",
  value: 128,
  unit: "characters",
  error: "invalid_request",
});

/** What people type to reach twelve characters. */
const typed: ReadonlySet<string> = new Set(
  `123456789012 1234567890123 12345678901234 123456789123 1234567891011 123123123123 123456123456 111222333444 012345678910
   0123456789012 987654321098 9876543210123 1q2w3e4r5t6y 1q2w3e4r5t6y7u 1qaz2wsx3edc 1qaz2wsx3edc4rfv zaq12wsxcde3 qwertyuiop12
   qwertyuiop123 qwertyuiop[] qwertyuiopas qwertyqwerty qwerty123456 qwerty1234567 asdfghjkl123 asdfghjkl;'\\ zxcvbnm12345
   abcdefghijkl abcdefghijklm abcdefgh1234 abcd12345678 abc123abc123 abcabcabcabc password1234 password12345 password123456
   passwordpassword password123! password1234! password2024 password2025 password2026 passw0rd1234 p@ssw0rd1234 p@ssword1234
   letmeinletmein letmein12345 letmeinplease welcome12345 welcome123456 welcomewelcome iloveyou1234 iloveyouforever iloveyousomuch
   administrator administrator1 administrator123 admin1234567 admin12345678 adminadmin123 adminadminadmin rootrootroot rootroot1234
   changemechangeme changeme1234 changeme12345 changemenow1 trustno1trustno1 superman1234 footballfootball football1234
   baseball1234 sunshine1234 princess1234 dragon123456 monkey123456 master123456 michael12345 soundingsounding sounding1234
   sounding12345 sounding123456 correcthorsebatterystaple mypassword123 mypassword1234
   thisismypassword thisisapassword secretsecret secretpassword supersecret123 testtesttest testtest1234 test12345678 default12345
   companyname123 winter2025winter summer2025summer winter202526 summer2026summer`.split(/\s+/),
);

let leaked: Promise<ReadonlySet<string>> | undefined;

/** Of the 49,000 passwords that occur most in leaks, those that are long enough. */
async function leakedPasswords(): Promise<ReadonlySet<string>> {
  leaked ??= import("@zxcvbn-ts/language-common").then(
    ({ dictionary }) => new Set(dictionary["passwords-common"].filter(({ length }) => length >= shortest)),
  );
  return await leaked;
}

/** @throws AppError invalid_request */
export async function requireGoodPassword(
  password: string,
  { email, param = "password" }: { readonly email: string; readonly param?: string },
): Promise<void> {
  const refuse = (reason: string): never => {
    throw new AppError("invalid_request", `${reason} Choose another one, such as several words.`, { param });
  };
  const characters = Array.from(password.normalize("NFKC"));
  // Several spaces in a row make a password longer, but not harder to guess.
  const counted = Array.from(password.normalize("NFKC").replaceAll(/\s+/g, " ")).length;
  if (counted < shortest || characters.length > longest)
    refuse(
      `The password has ${counted < shortest ? counted : characters.length} characters; ${shortest} to ${longest} are allowed.`,
    );
  if (new Set(characters).size <= 2) refuse("The password repeats one or two characters.");
  const lower = password.normalize("NFKC").toLowerCase().trim();
  const names = [email, email.slice(0, email.lastIndexOf("@"))];
  const bare = lower.replaceAll(/\s/g, "");
  if (typed.has(bare) || (await leakedPasswords()).has(bare)) refuse("The password is one of the commonest.");
  if (names.includes(lower)) refuse("The password is your mail address.");
}
