/**
 * Names that no organization can own. It loads the Public Suffix List: import it where names are added,
 * nowhere else.
 */
import { getPublicSuffix } from "tldts";

/**
 * Providers whose addresses are of people who do not know each other, from lists of the most used ones;
 * without variants by country.
 */
const mailProviders = new Set(
  `126.com 139.com 163.com aliyun.com aol.com bk.ru bluewin.ch btinternet.com comcast.net cox.net daum.net
  disroot.org duck.com email.com email.cz fastmail.com fastmail.fm foxmail.com free.fr freenet.de
  gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.net googlemail.com hanmail.net hey.com hotmail.com hushmail.com
  icloud.com inbox.lv inbox.ru interia.pl laposte.net libero.it list.ru live.com mac.com mail.com mail.de mail.ee
  mail.ru mailbox.org mailfence.com me.com msn.com naver.com o2.pl onet.pl orange.fr outlook.com pm.me
  posteo.de posteo.net proton.me protonmail.ch protonmail.com qq.com rediffmail.com riseup.net rocketmail.com runbox.com
  sbcglobal.net seznam.cz sfr.fr sina.com sky.com sohu.com startmail.com t-online.de tiscali.it tuta.com tuta.io
  tutanota.com tutanota.de uol.com.br verizon.net virgilio.it wanadoo.fr web.de wp.pl yahoo.com yandex.com yeah.net
  ymail.com zoho.com zohomail.com`.split(/\s+/),
);

/** Providers with a name under many countries: yahoo.co.uk, hotmail.fr. */
const providersByCountry =
  /^(?:aol|gmx|hotmail|live|msn|outlook|windowslive|yahoo|yandex)\.(?:com?\.)?[a-z]{2}$/;

/**
 * Why a name (lower case) cannot be an organization's domain, as the end of a sentence that begins with
 * it; undefined if it can.
 */
export const refusalOf = (name: string): string | undefined => {
  if (getPublicSuffix(name, { allowPrivateDomains: true }) === name)
    return "is a public suffix, under which anybody can register names";
  if (mailProviders.has(name) || providersByCountry.test(name))
    return "is a provider of mailboxes, whose addresses belong to many people";
  return undefined;
};
