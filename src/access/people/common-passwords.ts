/**
 * Passwords of twelve letters and more that are often found in leaks, so that there is a list also without one of the
 * operator. Compared without spaces, digits and signs.
 */
const letters = (text: string) =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}]/gu, '');

const common = new Set(
  `iloveyouforever iloveyousomuch iloveyoubaby ilovemyself ilovemyfamily ilovemymom ilovemydad ilovejesus ilovegod
  iloveme lovelovelove loveyouforever foreverandever forever foreveralone beautiful beautifulgirl sweetheart
  butterfly butterflies strawberry blueberry watermelon chocolate cheesecake peanutbutter marshmallow cupcake
  sunflower rainbow buttercup cinderella tinkerbell hellokitty rapunzel snowwhite sleepingbeauty mickeymouse
  correcthorsebatterystaple tobeornottobe maytheforcebewithyou thequickbrownfox thequickbrownfoxjumpsoverthelazydog
  loremipsum loremipsumdolorsitamet supercalifragilisticexpialidocious antidisestablishmentarianism
  abracadabra hocuspocus openthedoor letmeinplease letmeinnow trustnobody donttouch donotenter nopassword
  idontknow idontcare whatever nevermind nevergiveup carpediem hakunamatata justdoit livelaughlove staystrong
  blessed jesuschrist jesusislord jesuslovesme jesussaves godisgood godisgreat godislove inshallah bismillah
  alhamdulillah allahuakbar mashallah hallelujah holyspirit amazinggrace guardianangel
  manchesterunited manchestercity realmadrid barcelona fcbarcelona atleticomadrid juventus bayernmunich
  borussiadortmund liverpoolfc youllneverwalkalone chelseafc arsenalfc tottenham westhamunited newcastleunited
  leedsunited celticfc galatasaray fenerbahce besiktas cristianoronaldo lionelmessi ronaldinho michaeljordan
  kobebryant lebronjames dallascowboys pittsburghsteelers newyorkyankees bostonredsox losangeleslakers
  harrypotter hermionegranger lordoftherings gameofthrones starwars startrek darthvader lukeskywalker spiderman
  ironman captainamerica wolverine deadpool joker harleyquinn dragonball dragonballz narutouzumaki onepiece
  finalfantasy worldofwarcraft counterstrike callofduty assassinscreed grandtheftauto needforspeed leagueoflegends
  minecraft fortnite playstation nintendo supermario pokemongo pikachu thelegendofzelda
  metallica masterofpuppets ironmaiden linkinpark slipknot greenday nirvana blinkonehundredeightytwo systemofadown
  rageagainstthemachine redhotchilipeppers gunsnroses bohemianrhapsody stairwaytoheaven hotelcalifornia
  californication thebeatles michaeljackson backstreetboys onedirection justinbieber taylorswift eminem
  newyorkcity losangeles sanfrancisco california philadelphia massachusetts washington northcarolina
  constantinople unitedstates unitedkingdom deutschland switzerland netherlands australia
  elizabeth alexander alexandra christopher christian christina stephanie jonathan benjamin nicholas maximilian
  sebastian jacqueline catherine katherine valentina gabriella samantha jessica anthony francisco fernando
  alejandro alejandra guadalupe mohammed muhammad abdullah abdulrahman
  teamomucho teamoteamo tequieromucho amordemivida teamoporsiempre mivida miamor princesa estrella mariposa
  chocolatecaliente ichliebedich schatzilein sommerregen sonnenschein schmetterling fussball jetaime
  jetaimepourtoujours monamour doudou loulou tiamo amoremio vitamia lozinka kochamcie kocham
  motherfucker fuckyou fuckoff fuckthis gofuckyourself asshole bullshit sexybitch
  skateboarding snowboarding basketballislife volleyball cheerleader gymnastics swimming
  underconstruction administrator networking technology engineering mercedesbenz volkswagen lamborghini
  harleydavidson ferrari bmwbmwbmw thunderstorm firefighter lovelife newlife happyday happybirthday merrychristmas
  happynewyear summertime wintertime springtime goodmorning goodnight friendship bestfriends bestfriend family
  mylovelyfamily mychildren mommyanddaddy mamaandpapa mylittlepony littleprincess daddysgirl mamasboy babygirl
  babyboy sweetiepie honeybunny sugarplum gingerbread snickerdoodle pumpkinpie applepie
  unbelievable incredible fantastic wonderful impossible international university education
  qwertyqwerty qwertyuiopasdf qwertyuiopasdfghjkl qwertyuiopasdfghjklzxcvbnm asdfghjklzxcvbnm zxcvbnmasdfghjkl
  abcdefghijkl abcdefghijklm abcdefghijklmnop passwordpassword mypassword mypasswordis thisismypassword
  newpassword oldpassword secretpassword changethis changemenow pleasechangeme`
    .split(/\s+/)
    .map(letters),
);

export function isCommonPassword(password: string): boolean {
  return common.has(letters(password));
}
